// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/trajectory_file.hpp"

#include <utility>

#include "farfield/io/atomic_file.hpp"
#include "farfield/io/contact_json.hpp"
#include "farfield/io/model_tensors.hpp"
#include "farfield/io/step_tensors.hpp"

namespace farfield {
namespace {

constexpr const char* kTrajectoryFormat = "farfield.trajectory";
constexpr const char* kStateFormat = "farfield.state";
constexpr int kTrajectoryVersion =
    6;  // 2: detours; 3: time steps of scenes, calls of contact; 4: contact stiffness, models of contact built again; 5: cuts, integrators; 6: constraints
constexpr int kStateVersion = 3;

TensorFile trajectory_to_tensors(const Trajectory& t, const std::string& place) {
    validate(t);
    if ((t.contact.potential || t.contact.law) && t.contact.description.empty())
        fail("save_trajectory: no contact description, expected one: the trajectory has contact");
    if (!t.contact.description.empty())
        static_cast<void>(contact_from_json(t.contact.description, "save_trajectory: contact"));
    TensorFile file;
    set_format(file, kTrajectoryFormat, kTrajectoryVersion);
    put(file, *t.model, place);
    put(file, t.parameters);
    put(file, "q", t.q);
    put(file, "v", t.v);
    put(file, "controls", t.controls);
    put(file, "script", t.script);
    put(file, t.reports);
    put(file, *t.model, t.cuts);
    put(file, t.options);
    file.metadata["contact"] = t.contact.description;
    return file;
}

Trajectory trajectory_from_tensors(const TensorFile& file, const std::string& place) {
    TensorReader reader(file, place, kTrajectoryFormat, kTrajectoryVersion, kTrajectoryVersion);
    Trajectory t;
    LoadedModel model = read_model(reader);
    t.model = std::move(model.model);
    t.parameters = std::move(model.parameters);
    reader.read("q", t.q);
    reader.read("v", t.v);
    reader.read("controls", t.controls);
    reader.read("script", t.script);
    t.reports = read_reports(reader);
    t.cuts = read_cuts(reader);
    t.options = read_step_options(reader);
    const std::string contact = reader.text("contact");
    reader.finish();
    return checked_contents(place, [&] {
        validate(t);
        t.contact.description = contact;
        const auto contact_options = contact.empty() ? std::nullopt : contact_from_json(contact, place);
        if (contact_options)
            t.contact = make_contact_setup(*t.model, contact::make_contact_model(*t.model, *contact_options), contact);
        return std::move(t);
    });
}

}  // namespace

void save_trajectory(const std::filesystem::path& path, const Trajectory& trajectory) {
    write_tensor_file(path, trajectory_to_tensors(trajectory, file_place(path)));
}

Trajectory load_trajectory(const std::filesystem::path& path) {
    return trajectory_from_tensors(read_tensor_file(path), file_place(path));
}

std::string trajectory_to_bytes(const Trajectory& trajectory) {
    return encode_tensors(trajectory_to_tensors(trajectory, "trajectory_to_bytes"), "trajectory_to_bytes");
}

Trajectory trajectory_from_bytes(std::string_view bytes) {
    constexpr const char* kPlace = "trajectory_from_bytes";
    return trajectory_from_tensors(decode_tensors(bytes, kPlace), kPlace);
}

void save_state(const std::filesystem::path& path, const State& state) {
    TensorFile file;
    set_format(file, kStateFormat, kStateVersion);
    put(file, "q", state.q);
    put(file, "v", state.v);
    write_tensor_file(path, file);
}

State load_state(const std::filesystem::path& path) {
    const TensorFile file = read_tensor_file(path);
    TensorReader reader(file, file_place(path), kStateFormat, kStateVersion);
    State state;
    reader.read("q", state.q);
    reader.read("v", state.v);
    reader.finish();
    return state;
}

}  // namespace farfield
