// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact map as a table over (theta, X, Y) with C1 tricubic (Catmull-Rom) interpolation.
///
/// C1 matters: with trilinear interpolation piles do not come to rest. theta wraps, with the period 2 pi / k of B's
/// symmetry. Labels are exact: each slice of constant theta holds the distance to the boundary of the obstacle that A is
/// for translations of B.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "farfield/base/thread_pool.hpp"
#include "farfield/grains/contact_map.hpp"

namespace farfield::grains {

/// Labels of a contact map.
enum class LabelMode {
    Exact,  ///< distance, minus the penetration depth
    PaperGrid,  ///< 2 min over a grid of max(phi_A, phi_B) [CEM2026, Eq. (5)]: for replication only, it softens sharp corners
};

struct TableOptions {
    int theta = 128;  ///< slices per full turn; divided by the symmetry of B, but at least 12
    int space = 128;  ///< nodes along X and along Y
    LabelMode labels = LabelMode::Exact;
};
void validate(const TableOptions& options);

/// A table in units of the larger circumradius of the pair, so that it serves pairs of any size.
struct Table {
    int num_theta = 0;                        ///< slices in one period; stored with one more before and two more behind
    int num_space = 0;                        ///< nodes along X and Y
    double period = 0.0;                      ///< of theta [rad]
    double first_theta = 0.0;                 ///< of slice 0 [rad]
    double half_width = 0.0;                  ///< nodes span -half_width .. half_width
    double turn_radius = 0.0;                 ///< circumradius of B: bound of |dd/dtheta|
    double radius_ratio = 1.0;                ///< circumradius of B over that of A
    std::array<std::uint64_t, 2> outlines{};  ///< outline_hash of A and B
    std::vector<float> distance, arm;         ///< [num_theta + 3][X][Y], d and m

    [[nodiscard]] std::size_t num_values() const {
        return static_cast<std::size_t>(num_theta + 3) * static_cast<std::size_t>(num_space) *
               static_cast<std::size_t>(num_space);
    }
};

/// One chunk of the pool per slice; `progress` (may be null) is told after each slice how many are done, from any thread.
[[nodiscard]] Table build_table(const GrainShape& a, const GrainShape& b, const TableOptions& options, ThreadPool& pool,
                                const std::function<void(int done, int total)>& progress = nullptr);

/// Throws unless the table was built for these outlines and this ratio of radii, and is consistent.
[[nodiscard]] std::shared_ptr<const ContactMap> make_table_map(std::shared_ptr<const Table> table, const GrainShape& a,
                                                               const GrainShape& b);

}  // namespace farfield::grains
