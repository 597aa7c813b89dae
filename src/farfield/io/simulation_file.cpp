// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/simulation_file.hpp"

#include <optional>
#include <utility>

#include "farfield/io/atomic_file.hpp"
#include "farfield/io/contact_json.hpp"
#include "farfield/io/model_tensors.hpp"
#include "farfield/io/step_tensors.hpp"

namespace farfield {
namespace {

constexpr const char* kSimulationFormat = "farfield.simulation";
constexpr int kSimulationVersion = 3;  // 2: steps that were cut, integrators; 3: constraints

using Integers = Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1>;

TensorFile simulation_to_tensors(const Simulation& simulation, const std::string& place) {
    const ContactSetup& contact = simulation.contact();
    if ((contact.potential || contact.law) && !contact_from_json(contact.description, place + ": contact"))
        fail(place, ": contact '", contact.description, "', expected a contact model of this engine");
    TensorFile file;
    set_format(file, kSimulationFormat, kSimulationVersion);
    put(file, *simulation.model(), place);
    put(file, simulation.parameters());
    put(file, simulation.options());
    put(file, contact.filter ? contact.filter->options() : FilterOptions{});
    file.metadata["contact"] = contact.description;
    const SimulationSnapshot snapshot = simulation.snapshot();
    put(file, "q", snapshot.state.q);
    put(file, "v", snapshot.state.v);
    put(file, "previous_q", snapshot.previous_q);
    put(file, "last_length", Eigen::VectorXd(Eigen::VectorXd::Constant(1, snapshot.last_length)));
    put(file, "script", snapshot.script);
    put(file, "num_steps", Integers(Integers::Constant(1, snapshot.num_steps)));
    put(file, std::vector{snapshot.report});
    put(file, "memory",
        Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(snapshot.memory.data(),
                                                          static_cast<Eigen::Index>(snapshot.memory.size()))));
    return file;
}

Simulation simulation_from_tensors(const TensorFile& file, const std::string& place, std::shared_ptr<ThreadPool> pool) {
    TensorReader reader(file, place, kSimulationFormat, kSimulationVersion, kSimulationVersion);
    LoadedModel loaded = read_model(reader);
    const StepOptions options = read_step_options(reader);
    const FilterOptions filter = read_filter_options(reader);
    const std::string description = reader.text("contact");
    SimulationSnapshot snapshot;
    reader.read("q", snapshot.state.q);
    reader.read("v", snapshot.state.v);
    reader.read("previous_q", snapshot.previous_q);
    Eigen::VectorXd last_length;
    reader.read("last_length", last_length);
    if (last_length.size() != 1) fail_file(place, ": ", last_length.size(), " lengths of the last piece, expected 1");
    snapshot.last_length = last_length[0];
    reader.read("script", snapshot.script);
    Integers num_steps;
    reader.read("num_steps", num_steps);
    const std::vector<StepReport> reports = read_reports(reader);
    if (num_steps.size() != 1 || reports.size() != 1)
        fail_file(place, ": ", num_steps.size(), " numbers of steps and ", reports.size(),
                  " reports, expected 1 of each");
    snapshot.num_steps = num_steps[0];
    snapshot.report = reports.front();
    Eigen::VectorXd memory;
    reader.read("memory", memory);
    snapshot.memory.assign(memory.begin(), memory.end());
    reader.finish();
    return checked_contents(place, [&] {
        ContactSetup contact;
        if (!description.empty()) {
            const auto contact_options = contact_from_json(description, place);
            if (!contact_options) fail("contact ", description, ", expected a contact model of this engine");
            contact = make_contact_setup(*loaded.model, contact::make_contact_model(*loaded.model, *contact_options),
                                         description, filter);
        }
        Simulation simulation(loaded.model, std::move(loaded.parameters), std::move(contact), options, std::move(pool));
        simulation.restore(snapshot);
        return simulation;
    });
}

}  // namespace

void save_simulation(const std::filesystem::path& path, const Simulation& simulation) {
    write_tensor_file(path, simulation_to_tensors(simulation, file_place(path)));
}

Simulation load_simulation(const std::filesystem::path& path, std::shared_ptr<ThreadPool> pool) {
    return simulation_from_tensors(read_tensor_file(path), file_place(path), std::move(pool));
}

std::string simulation_to_bytes(const Simulation& simulation) {
    return encode_tensors(simulation_to_tensors(simulation, "simulation_to_bytes"), "simulation_to_bytes");
}

Simulation simulation_from_bytes(std::string_view bytes, std::shared_ptr<ThreadPool> pool) {
    constexpr const char* kPlace = "simulation_from_bytes";
    return simulation_from_tensors(decode_tensors(bytes, kPlace), kPlace, std::move(pool));
}

}  // namespace farfield
