// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/model.hpp"

#include <cmath>
#include <type_traits>

#include "farfield/base/error.hpp"
#include "farfield/model/parameter_names.hpp"

namespace farfield {
namespace {

template <class Items>
std::optional<int> find_name(const Items& items, const std::string& name) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].name == name) return static_cast<int>(i);
    }
    return std::nullopt;
}

template <class Array>
void check(const Array& values, Eigen::Index rows, const char* place, const char* what) {
    if (values.rows() != rows) fail(place, ": ", what, " has ", values.rows(), " rows, expected ", rows);
    for (Eigen::Index r = 0; r < values.rows(); ++r) {
        for (Eigen::Index c = 0; c < values.cols(); ++c) {
            if (!std::isfinite(values(r, c))) {
                fail(place, ": ", what, "[", r, values.cols() > 1 ? ", " + std::to_string(c) : "", "] = ", values(r, c),
                     ", expected a finite number");
            }
        }
    }
}

/// Rows of the array that holds a field; a single vector has its components there.
template <class Array>
Eigen::Index array_rows(const Model& model, RowOf rows) {
    constexpr int kRows = Array::RowsAtCompileTime;
    return kRows == Eigen::Dynamic ? num_rows(model, rows) : kRows;
}

}  // namespace

std::optional<int> Model::find_body(const std::string& name) const { return find_name(bodies_, name); }
std::optional<int> Model::find_joint(const std::string& name) const { return find_name(joints_, name); }

bool has_free_joint(const Model& model, const ModelBody& body) {
    return body.num_joints == 1 && model.joints()[static_cast<std::size_t>(body.first_joint)].type == JointType::Free;
}

void validate(const Model& model, const State& state, const char* place) {
    check(state.q, model.num_q(), place, "q");
    check(state.v, model.num_dofs(), place, "v");
    for (const BallCoordinate& c : model.balls()) {
        const double norm = state.q.segment<4>(c.q).norm();
        if (std::abs(norm - 1.0) > 1e-6) {
            fail(place, ": joint '", model.joints()[static_cast<std::size_t>(c.joint)].name, "': quaternion q[", c.q,
                 ":", c.q + 4, "] has norm ", norm, ", expected 1");
        }
    }
    for (const Tie& tie : model.scene().ties) {
        const auto coordinate = [&](const std::string& name) {
            return state.q[model.joints()[static_cast<std::size_t>(*model.find_joint(name))].q];
        };
        const double expected = tie.offset + tie.ratio * coordinate(tie.source);
        if (std::abs(coordinate(tie.joint) - expected) > 1e-9 * (1.0 + std::abs(expected))) {
            fail(place, ": joint '", tie.joint, "' is at ", coordinate(tie.joint), ", expected ", expected,
                 " by its tie to '", tie.source, "'");
        }
    }
}

void validate(const Model& model, const Parameters& p, const char* place) {
    const Parameters& d = model.default_parameters();
    visit_fields(p, [&]<class Value>(const auto& field, const Value& value) {
        if constexpr (!std::is_same_v<Value, double>)
            check(value, array_rows<Value>(model, field.rows), place, field.name);
    });
    if (!(p.weight > 0.0) || !std::isfinite(p.weight)) fail(place, ": weight ", p.weight, ", expected > 0 [J]");
    for (Eigen::Index i = 0; i < p.friction.size(); ++i) {
        if (p.friction[i] < 0.0) fail(place, ": friction[", i, "] = ", p.friction[i], ", expected >= 0");
    }
    for (Eigen::Index i = 1; i < p.moments.rows(); ++i) {
        const std::string body = "body '" + model.bodies()[static_cast<std::size_t>(i)].name + "'";
        if (p.moments.row(i).isZero(0.0) && d.moments.row(i).isZero(0.0)) continue;  // a massless frame stays one
        validate(from_vector(p.moments.row(i).transpose()), std::string(place) + ": " + body);
    }
}

Parameters zero_parameters(const Model& model) {
    Parameters p;
    visit_fields(p, [&]<class Value>(const auto& field, Value& value) {
        if constexpr (std::is_same_v<Value, double>) {
            value = 0.0;
        } else {
            value.setZero(array_rows<Value>(model, field.rows), value.cols());
        }
    });
    return p;
}

}  // namespace farfield
