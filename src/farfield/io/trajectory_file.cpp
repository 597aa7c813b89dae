// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/trajectory_file.hpp"

#include <cmath>
#include <utility>

#include "farfield/io/atomic_file.hpp"
#include "farfield/io/model_tensors.hpp"

namespace farfield {
namespace {

constexpr const char* kTrajectoryFormat = "farfield.trajectory";
constexpr const char* kStateFormat = "farfield.state";
constexpr int kVersion = 3;  // 2: detours; 3: scenes may state a time step, reports count calls of contact

using Integers = Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1>;

/// Calls visit(name, field) for every field. Names every member, so that a new one cannot be forgotten.
template <class Report, class Visit>
void visit_report(Report& report, Visit&& visit) {
    auto& [status, iterations, residual, min_gap, shortest_step, detour, conditioning, kinetic, potential, contact,
           contact_counts] = report;
    visit("report.status", status);
    visit("report.iterations", iterations);
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
}

template <class Options, class Visit>
void visit_options(Options& options, Visit&& visit) {
    auto& [dt, tolerance, max_iterations, pd_convention] = options;
    visit("options.dt", dt);
    visit("options.tolerance", tolerance);
    visit("options.max_iterations", max_iterations);
    visit("options.pd_convention", pd_convention);
}

/// How many values an enumeration has; files hold their numbers.
constexpr int count_of(StepStatus) { return static_cast<int>(StepStatus::Intersecting) + 1; }
constexpr int count_of(PdConvention) { return static_cast<int>(PdConvention::Paper) + 1; }

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
void read_columns(TensorReader& reader, Items& items, VisitAll&& visit_all) {
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
}

void require_shape(const RowMatrix& values, Eigen::Index rows, Eigen::Index cols, const char* what) {
    if (values.rows() != rows || values.cols() != cols) {
        fail("trajectory: ", what, " has shape (", values.rows(), ", ", values.cols(), "), expected (", rows, ", ",
             cols, ")");
    }
}

/// The last state of an unconverged rollout is whatever the solver left: only the `rows` before it must be finite.
void require_finite(const RowMatrix& values, Eigen::Index rows, const char* what) {
    const Eigen::Index count = values.cols() > 0 ? rows * values.cols() : 0;
    for (Eigen::Index i = 0; i < count; ++i) {
        if (!std::isfinite(values.data()[i])) {
            fail("trajectory: ", what, "[", i / values.cols(), ", ", i % values.cols(), "] = ", values.data()[i],
                 ", expected a finite number");
        }
    }
}

void validate_trajectory(const Trajectory& t) {
    if (!t.model) fail("trajectory: no model");
    const Model& model = *t.model;
    validate(t.options);
    validate(model, t.parameters, "trajectory: parameters");
    const Eigen::Index taken = t.num_steps(), asked = t.controls.rows();
    require_shape(t.q, taken + 1, model.num_q(), "q");
    require_shape(t.v, taken + 1, model.num_dofs(), "v");
    require_shape(t.controls, asked, model.num_controls(), "controls");
    require_shape(t.script, asked, 7 * model.num_kinematic(), "script");
    for (Eigen::Index step = 0; step + 1 < taken; ++step) {
        const StepStatus status = t.reports[static_cast<std::size_t>(step)].status;
        if (status != StepStatus::Converged) {
            fail("trajectory: step ", step, " of ", taken, " is ", to_string(status),
                 ", expected only the last not to converge");
        }
    }
    const bool stopped = taken > 0 && t.reports.back().status != StepStatus::Converged;
    if (taken > asked || (taken < asked && !stopped)) {
        fail("trajectory: ", taken, " steps taken with ", asked,
             " rows of controls, expected as many, or fewer after a failed step");
    }
    validate(model, t.state(0), "trajectory: first state");
    require_finite(t.q, stopped ? taken : taken + 1, "q");
    require_finite(t.v, stopped ? taken : taken + 1, "v");
    require_finite(t.controls, asked, "controls");
    require_finite(t.script, asked, "script");
}

TensorFile to_tensors(const Trajectory& t, const std::string& place) {
    validate_trajectory(t);
    if (t.contact.potential && t.contact.description.empty())
        fail("save_trajectory: no contact description, expected one: the trajectory has contact");
    TensorFile file;
    set_format(file, kTrajectoryFormat, kVersion);
    put(file, *t.model, place);
    put(file, t.parameters);
    put(file, "q", t.q);
    put(file, "v", t.v);
    put(file, "controls", t.controls);
    put(file, "script", t.script);
    put_columns(file, t.reports, [](auto& item, auto&& visit) { visit_report(item, visit); });
    put_columns(file, std::vector{t.options}, [](auto& item, auto&& visit) { visit_options(item, visit); });
    file.metadata["contact"] = t.contact.description;
    return file;
}

Trajectory from_tensors(const TensorFile& file, const std::string& place) {
    TensorReader reader(file, place, kTrajectoryFormat, kVersion);
    Trajectory t;
    LoadedModel model = read_model(reader);
    t.model = std::move(model.model);
    t.parameters = std::move(model.parameters);
    reader.read("q", t.q);
    reader.read("v", t.v);
    reader.read("controls", t.controls);
    reader.read("script", t.script);
    read_columns(reader, t.reports, [](auto& item, auto&& visit) { visit_report(item, visit); });
    std::vector<StepOptions> options;
    read_columns(reader, options, [](auto& item, auto&& visit) { visit_options(item, visit); });
    if (options.size() != 1) fail_file(place, ": options have ", options.size(), " entries, expected 1");
    t.options = options.front();
    t.contact.description = reader.text("contact");
    reader.finish();
    return checked_contents(place, [&] {
        validate_trajectory(t);
        return std::move(t);
    });
}

}  // namespace

void save_trajectory(const std::filesystem::path& path, const Trajectory& trajectory) {
    write_tensor_file(path, to_tensors(trajectory, file_place(path)));
}

Trajectory load_trajectory(const std::filesystem::path& path) {
    return from_tensors(read_tensor_file(path), file_place(path));
}

std::string trajectory_to_bytes(const Trajectory& trajectory) {
    return encode_tensors(to_tensors(trajectory, "trajectory_to_bytes"), "trajectory_to_bytes");
}

Trajectory trajectory_from_bytes(std::string_view bytes) {
    constexpr const char* kPlace = "trajectory_from_bytes";
    return from_tensors(decode_tensors(bytes, kPlace), kPlace);
}

void save_state(const std::filesystem::path& path, const State& state) {
    TensorFile file;
    set_format(file, kStateFormat, kVersion);
    put(file, "q", state.q);
    put(file, "v", state.v);
    write_tensor_file(path, file);
}

State load_state(const std::filesystem::path& path) {
    const TensorFile file = read_tensor_file(path);
    TensorReader reader(file, file_place(path), kStateFormat, kVersion);
    State state;
    reader.read("q", state.q);
    reader.read("v", state.v);
    reader.finish();
    return state;
}

}  // namespace farfield
