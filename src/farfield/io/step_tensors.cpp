// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/step_tensors.hpp"

#include <string>
#include <type_traits>
#include <utility>

#include "farfield/base/error.hpp"
#include "farfield/dynamics/trajectory.hpp"

namespace farfield {
namespace {

using Integers = Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1>;

/// Calls visit(name, field) for every field. Names every member, so that a new one cannot be forgotten.
template <class Report, class Visit>
void visit_report(Report& report, Visit&& visit) {
    auto& [status, iterations, pieces, residual, min_gap, shortest_step, detour, conditioning, kinetic, potential,
           contact, contact_counts, squeezed, between_a, between_b, constraint_residual] = report;
    visit("report.status", status);
    visit("report.iterations", iterations);
    visit("report.pieces", pieces);
    visit("report.residual", residual);
    visit("report.min_gap", min_gap);
    visit("report.shortest_step", shortest_step);
    visit("report.detour", detour);
    visit("report.conditioning", conditioning);
    visit("report.kinetic", kinetic);
    visit("report.potential", potential);
    visit("report.contact", contact);
    visit("report.contact_linearizations", contact_counts.linearizations);
    visit("report.contact_energies", contact_counts.energies);
    visit("report.squeezed", squeezed);
    visit("report.between_a", between_a);
    visit("report.between_b", between_b);
    visit("report.constraint_residual", constraint_residual);
}

template <class Options, class Visit>
void visit_step_options(Options& options, Visit&& visit) {
    auto& [dt, tolerance, max_iterations, pd_convention, integrator] = options;
    visit("options.dt", dt);
    visit("options.tolerance", tolerance);
    visit("options.max_iterations", max_iterations);
    visit("options.pd_convention", pd_convention);
    visit("options.integrator", integrator);
}

template <class Options, class Visit>
void visit_filter(Options& options, Visit&& visit) {
    auto& [keep, tolerance, body_tests, curvature_scale] = options;
    visit("filter.keep", keep);
    visit("filter.tolerance", tolerance);
    visit("filter.body_tests", body_tests);
    visit("filter.curvature_scale", curvature_scale);
}

/// How many values an enumeration has; files hold their numbers.
constexpr int count_of(StepStatus) { return static_cast<int>(StepStatus::Unstable) + 1; }
constexpr int count_of(PdConvention) { return static_cast<int>(PdConvention::Paper) + 1; }
constexpr int count_of(Integrator) { return static_cast<int>(Integrator::Rk4) + 1; }

/// A column of equal fields of many structs: doubles stay doubles, integers and enumerators are I32.
template <class Field>
using Column = std::conditional_t<std::is_same_v<Field, double>, Eigen::VectorXd, Integers>;

template <class Field>
void set(Field& field, typename Column<Field>::Scalar value, const std::string& place) {
    if constexpr (std::is_enum_v<Field>) {
        if (value < 0 || value >= count_of(Field{}))
            fail_file(place, ": ", value, ", expected 0 to ", count_of(Field{}) - 1);
        field = static_cast<Field>(value);
    } else {
        field = value;
    }
}

/// Writes structs as columns. `visit_all(item, visit)` lists the fields of one.
template <class Items, class VisitAll>
void put_columns(TensorFile& file, const Items& items, VisitAll&& visit_all) {
    const typename Items::value_type names{};
    visit_all(names, [&]<class Field>(const char* column_name, const Field&) {
        const std::string name = column_name;
        Column<Field> column(static_cast<Eigen::Index>(items.size()));
        Eigen::Index row = 0;
        for (const auto& item : items) {
            visit_all(item, [&]<class Other>(const char* other, const Other& value) {
                if constexpr (std::is_same_v<Other, Field>) {
                    if (name == other) column[row++] = static_cast<typename Column<Field>::Scalar>(value);
                }
            });
        }
        put(file, name, column);
    });
}

template <class Items, class VisitAll>
Items read_columns(TensorReader& reader, VisitAll&& visit_all) {
    Items items;
    typename Items::value_type names{};
    bool first = true;
    visit_all(names, [&]<class Field>(const char* column_name, const Field&) {
        const std::string name = column_name;
        Column<Field> column;
        reader.read(name, column);
        if (std::exchange(first, false)) items.resize(static_cast<std::size_t>(column.size()));
        if (column.size() != static_cast<Eigen::Index>(items.size())) {
            fail_file(reader.place(), ": tensor '", name, "': ", column.size(), " entries, expected ", items.size());
        }
        Eigen::Index row = 0;
        for (auto& item : items) {
            visit_all(item, [&]<class Other>(const char* other, Other& value) {
                if constexpr (std::is_same_v<Other, Field>) {
                    if (name == other) set(value, column[row++], reader.place() + ": tensor '" + name + "'");
                }
            });
        }
    });
    return items;
}

/// The one entry of a list that holds one.
template <class Item>
Item single(const TensorReader& reader, const char* what, const std::vector<Item>& items) {
    if (items.size() != 1) fail_file(reader.place(), ": ", what, " have ", items.size(), " entries, expected 1");
    return items.front();
}

constexpr auto kReport = [](auto& item, auto&& visit) { visit_report(item, visit); };
constexpr auto kOptions = [](auto& item, auto&& visit) { visit_step_options(item, visit); };
constexpr auto kFilter = [](auto& item, auto&& visit) { visit_filter(item, visit); };

}  // namespace

void put(TensorFile& file, const std::vector<StepReport>& reports) { put_columns(file, reports, kReport); }
std::vector<StepReport> read_reports(TensorReader& reader) {
    return read_columns<std::vector<StepReport>>(reader, kReport);
}

void put(TensorFile& file, const Model& model, const std::vector<StepCut>& cuts) {
    const auto count = static_cast<Eigen::Index>(cuts.size());
    Integers step(count);
    Eigen::VectorXd fraction(count);
    RowMatrix q(count, model.num_q()), v(count, model.num_dofs());
    for (Eigen::Index k = 0; k < count; ++k) {
        const StepCut& cut = cuts[static_cast<std::size_t>(k)];
        step[k] = cut.step;
        fraction[k] = cut.fraction;
        q.row(k) = cut.state.q.transpose();
        v.row(k) = cut.state.v.transpose();
    }
    put(file, "cuts.step", step);
    put(file, "cuts.fraction", fraction);
    put(file, "cuts.q", q);
    put(file, "cuts.v", v);
}

std::vector<StepCut> read_cuts(TensorReader& reader) {
    Integers step;
    Eigen::VectorXd fraction;
    RowMatrix q, v;
    reader.read("cuts.step", step);
    reader.read("cuts.fraction", fraction);
    reader.read("cuts.q", q);
    reader.read("cuts.v", v);
    if (fraction.size() != step.size() || q.rows() != step.size() || v.rows() != step.size()) {
        fail_file(reader.place(), ": cuts of ", step.size(), " steps, ", fraction.size(), " fractions, ", q.rows(),
                  " and ", v.rows(), " states, expected as many of each");
    }
    std::vector<StepCut> cuts;
    for (Eigen::Index k = 0; k < step.size(); ++k)
        cuts.push_back({step[k], fraction[k], {q.row(k).transpose(), v.row(k).transpose()}});
    return cuts;
}

void put(TensorFile& file, const StepOptions& options) { put_columns(file, std::vector{options}, kOptions); }
StepOptions read_step_options(TensorReader& reader) {
    return single(reader, "options", read_columns<std::vector<StepOptions>>(reader, kOptions));
}

void put(TensorFile& file, const FilterOptions& options) { put_columns(file, std::vector{options}, kFilter); }
FilterOptions read_filter_options(TensorReader& reader) {
    return single(reader, "filter", read_columns<std::vector<FilterOptions>>(reader, kFilter));
}

}  // namespace farfield
