// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact map as two small networks, for d and for m: 9 to 70 kB a pair where a table takes megabytes.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "farfield/grains/contact_map.hpp"
#include "farfield/grains/network.hpp"

namespace farfield::grains {

/// Networks of a pair, in units of its larger circumradius.
struct PairNetworks {
    Network distance, arm;
    Encoding encoding = Encoding::CosSin;
    int symmetry = 1;  ///< k of cos k theta
    double radius_ratio = 1.0;
    std::array<std::uint64_t, 2> outlines{};
};

struct TrainingOptions {
    int layers = 5, width = 64;
    Activation activation = Activation::Softplus;
    Encoding encoding = Encoding::CosSin;
    int samples = 120000;
    int steps = 25000;  ///< of the distance; the arm, which is rough by nature, gets two fifths of them
    int batch = 512;
    double first_rate = 3e-3, last_rate = 1e-5;  ///< cosine between them, after a warm-up of 2 % of the steps
    std::uint64_t seed = 1;
};
void validate(const TrainingOptions& options);

/// Value loss on exact labels, most of them within 0.1 circumradii of contact. `progress(done, total)` may be null.
[[nodiscard]] PairNetworks train_networks(const GrainShape& a, const GrainShape& b, const TrainingOptions& options,
                                          const std::function<void(int, int)>& progress = nullptr);

/// Throws unless the networks belong to these outlines, this ratio of radii, and are finite.
[[nodiscard]] std::shared_ptr<const ContactMap> make_network_map(const PairNetworks& networks, const GrainShape& a,
                                                                 const GrainShape& b);

}  // namespace farfield::grains
