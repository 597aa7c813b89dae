// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact maps as networks in files (safetensors): our own, and those trained elsewhere.
///
/// Tensors are named as by torch.nn.Sequential inside a module with members `distance` and `arm`: "distance.0.weight"
/// (outputs, inputs), "distance.0.bias", "distance.2.weight", ... in 32 or 64 bits. Texts: format, version, activation
/// (softplus10 or relu), encoding (cos_sin or raw_theta), symmetry, radius_ratio, outline_a and outline_b (hexadecimal).
/// Lengths are in units of the larger circumradius. Our own files also tell unit, reach and the errors found by the audit;
/// readers audit anew.
#include <filesystem>

#include "farfield/grains/map_audit.hpp"
#include "farfield/grains/network_map.hpp"

namespace farfield {

void save_networks(const std::filesystem::path& path, const grains::PairNetworks& networks,
                   const grains::MapAudit& audit);

/// Throws FileError when the file is missing, damaged, or not a pair of networks.
[[nodiscard]] grains::PairNetworks load_networks(const std::filesystem::path& path);

}  // namespace farfield
