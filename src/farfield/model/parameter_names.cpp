// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/parameter_names.hpp"

#include <algorithm>
#include <sstream>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

/// "box", "knee", "ball.2", "box:17".
std::string row_label(const Model& model, RowOf rows, Eigen::Index row) {
    const auto at = static_cast<std::size_t>(row);
    std::ostringstream label;
    switch (rows) {
        case RowOf::Scene:
            break;
        case RowOf::Body:
            label << model.bodies()[at].name;
            break;
        case RowOf::Actuator:
            if (model.actuators()[at].name.empty()) {
                label << row;
            } else {
                label << model.actuators()[at].name;
            }
            break;
        case RowOf::Dof: {
            const ModelJoint& joint = model.joints()[static_cast<std::size_t>(model.dofs()[at].joint)];
            label << joint.name;
            if (joint.num_dofs > 1) label << "." << row - joint.dof;
            break;
        }
        case RowOf::HullVertex: {
            const auto hull = std::find_if(model.hulls().begin(), model.hulls().end(),
                                           [&](const ModelHull& h) { return row < h.first_vertex + h.num_vertices; });
            label << model.bodies()[static_cast<std::size_t>(hull->body)].name << ":" << row;
            break;
        }
    }
    return label.str();
}

/// Calls visit(field name, row name, entry name) for every entry of the flat vector.
template <class Visit>
void visit_names(const Model& model, Visit&& visit) {
    visit_fields(model.default_parameters(), [&](const auto& field, const auto&) {
        for (Eigen::Index row = 0; row < num_rows(model, field.rows); ++row) {
            std::string name = field.name;
            if (field.rows != RowOf::Scene) name.append("[").append(row_label(model, field.rows, row)).append("]");
            if (field.components.empty()) visit(field.name, name, name);
            for (const char* component : field.components)
                visit(field.name, name, std::string(name).append(".").append(component));
        }
    });
}

}  // namespace

Eigen::Index num_rows(const Model& model, RowOf rows) {
    switch (rows) {
        case RowOf::Scene:
            return 1;
        case RowOf::Body:
            return model.num_bodies();
        case RowOf::Actuator:
            return static_cast<Eigen::Index>(model.actuators().size());
        case RowOf::Dof:
            return model.num_dofs();
        case RowOf::HullVertex:
            return model.hulls().empty() ? 0 : model.hulls().back().first_vertex + model.hulls().back().num_vertices;
    }
    return 0;
}

std::vector<std::string> parameter_names(const Model& model) {
    std::vector<std::string> names;
    visit_names(model, [&](const char*, const std::string&, std::string entry) { names.push_back(std::move(entry)); });
    return names;
}

Indices parameter_mask(const Model& model, const std::vector<std::string>& selection) {
    std::vector<int> chosen;
    std::vector<bool> found(selection.size(), false);
    int index = 0;
    visit_names(model, [&](const char* field, const std::string& row, const std::string& entry) {
        bool wanted = false;
        for (std::size_t k = 0; k < selection.size(); ++k) {
            const bool match = selection[k] == field || selection[k] == row || selection[k] == entry;
            found[k] = found[k] || match;
            wanted = wanted || match;
        }
        if (wanted) chosen.push_back(index);
        ++index;
    });
    visit_fields(model.default_parameters(), [&](const auto& field, const auto&) {
        for (std::size_t k = 0; k < selection.size(); ++k) found[k] = found[k] || selection[k] == field.name;
    });
    for (std::size_t k = 0; k < selection.size(); ++k) {
        if (found[k]) continue;
        std::string known;
        visit_fields(model.default_parameters(), [&](const auto& field, const auto&) {
            known += (known.empty() ? "" : ", ") + std::string(field.name);
        });
        fail("parameter_mask: '", selection[k], "' is no parameter of the model, expected a field (", known,
             "), a row such as 'moments[", model.bodies().back().name, "]' or an entry of parameter_names");
    }
    return Eigen::Map<const Indices>(chosen.data(), static_cast<Eigen::Index>(chosen.size()));
}

}  // namespace farfield
