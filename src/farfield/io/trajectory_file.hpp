// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Trajectories and states in files, without loss.
///
/// A trajectory file ("format" = "farfield.trajectory") holds its model and parameters as a model file does, the tensors
/// "q", "v", "controls", "script", "report.<field>" (one entry per step), "cuts.<field>" (one per state inside a step that was cut) and "options.<field>", and the text "contact" (contact_json.hpp; empty without contact).
/// A state file ("farfield.state") holds "q" and "v". Anything wrong with a file is a FileError that names it.
#include <filesystem>
#include <string>
#include <string_view>

#include "farfield/dynamics/rollout.hpp"

namespace farfield {

/// A trajectory with contact needs the contact.description that contact_to_json writes: loading builds the contact model from it again.
/// Throws std::invalid_argument when the trajectory's arrays do not fit each other.
void save_trajectory(const std::filesystem::path& path, const Trajectory& trajectory);
[[nodiscard]] Trajectory load_trajectory(const std::filesystem::path& path);

/// The bytes that save_trajectory would write.
[[nodiscard]] std::string trajectory_to_bytes(const Trajectory& trajectory);
[[nodiscard]] Trajectory trajectory_from_bytes(std::string_view bytes);

void save_state(const std::filesystem::path& path, const State& state);
/// Whether the state fits a model is checked where it is used.
[[nodiscard]] State load_state(const std::filesystem::path& path);

}  // namespace farfield
