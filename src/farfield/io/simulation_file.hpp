// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A simulation in a file: what it moves, how, where it is, and its warm starts. A loaded one goes on bit for bit.
///
/// A simulation file ("format" = "farfield.simulation") holds model and parameters as a model file does, "options.<field>",
/// "filter.<field>", the text "contact" (contact_json.hpp; empty without contact), and the snapshot: "q", "v", "previous_q", "last_length", "script",
/// "num_steps", "memory", "report.<field>". Anything wrong with a file is a FileError that names it.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "farfield/dynamics/simulation.hpp"

namespace farfield {

/// A simulation with contact needs the contact.description that contact_to_json writes: loading builds the contact model from it again.
void save_simulation(const std::filesystem::path& path, const Simulation& simulation);
/// `pool` as of Simulation; how many threads shared the work is not kept.
[[nodiscard]] Simulation load_simulation(const std::filesystem::path& path, std::shared_ptr<ThreadPool> pool = nullptr);

/// The bytes that save_simulation would write.
[[nodiscard]] std::string simulation_to_bytes(const Simulation& simulation);
[[nodiscard]] Simulation simulation_from_bytes(std::string_view bytes, std::shared_ptr<ThreadPool> pool = nullptr);

}  // namespace farfield
