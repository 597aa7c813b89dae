// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Lagged friction of many planes between the same two bodies at once, in SIMD lanes chosen at run time.
///
/// Same problem as plane_friction.hpp for planes of exactly six points, the first three on body A; energies and derivatives agree
/// with it to rounding. A plane's bits depend on its own input, on where its last search ended and on the SIMD target, never on its
/// neighbours. Planes whose loads sum to less than 1e-290 count as idle.
///
/// Usage:   batch.clear(); batch.add(normal, points) ...; prepare_planes(batch);          at the start of a step
///          solve_planes(batch, a, b, model, stop); add_planes(batch, a, b, model, sum);   for every motion of the bodies
/// The loads' centroid c is the centre of spin and their radius of gyration the unit of length, so that weighted least squares is a
/// weighted mean. Each search starts there, displaced by as much as the last one ended away from it.
#include <array>
#include <cstddef>
#include <vector>

#include "farfield/contact/plane_friction/plane_friction.hpp"

namespace farfield::contact {

inline constexpr std::size_t kChunkPlanes = 8;

/// A search takes its last step where the decrement is below of_energy * energy + of_smallest * the smallest possible energy.
struct PlaneStop {
    double of_energy = 0.0, of_smallest = 0.0;
};
inline constexpr PlaneStop kPlaneDerivatives{.of_smallest = 1e-14};  ///< good enough for derivatives and adjoints

/// Eight planes, structure of arrays. Row 3 m + c of `position` is coordinate c of point m.
struct alignas(64) PlaneChunk {
    double normal[3][kChunkPlanes];
    double position[18][kChunkPlanes];
    double load[6][kChunkPlanes];
    double tangent[3][kChunkPlanes];  ///< b0; b1 = n x b0
    double spin[12][kChunkPlanes];    ///< rows 2 m + i: B^T (n x (y_m - c)) / radius
    double share[kChunkPlanes];       ///< 1 / sum of loads, 0 when idle
    double radius[kChunkPlanes];      ///< of gyration, 1 when all points coincide
    double pinned[kChunkPlanes];      ///< 1 when all points coincide, so that the spin does nothing
    double motion[3][kChunkPlanes];   ///< (u, omega radius) at the minimum
    double offset[3][kChunkPlanes];   ///< the same relative to least squares: where the next search starts
    double energy[kChunkPlanes];
    double iterations[kChunkPlanes];
};

/// Multipliers of eight planes (slip_dual.hpp): what add_planes saw last.
struct alignas(64) PlaneDualChunk {
    double slip[12][kChunkPlanes];  ///< w; rows 2 m + i
    double z[12][kChunkPlanes];     ///< as slip
    double inverse_psi[6][kChunkPlanes];
};

/// Derivatives of phi (see FrictionAdjoint) by the lagged state of eight planes; rows as in PlaneChunk.
struct alignas(64) PlaneAdjointChunk {
    double normal[3][kChunkPlanes];
    double position[18][kChunkPlanes];
    double load[6][kChunkPlanes];
};

/// A BodyMotion as the kernels read it: matrices row major, change = turn - 1.
struct PlainMotion {
    double turn[9], change[9], origin[3], shift[3];
};

/// Sums over planes of the parts of a FrictionAdjoint that belong to bodies.
struct PlaneAdjointSums {
    double phi = 0.0;
    Vector6d previous_a = Vector6d::Zero(), previous_b = Vector6d::Zero();
};

/// Growing list of planes. Storage is kept by clear().
class PlaneBatch {
 public:
    void clear() { size_ = 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    std::size_t add(const Eigen::Vector3d& normal, const std::array<FrictionPoint, 6>& points);
    /// A copy of one lane, of which only normal, position and load are read, with its loads scaled.
    void add(const PlaneChunk& from, std::size_t lane, double load_scale);

    [[nodiscard]] double energy(std::size_t i) const { return chunk(i).energy[i % kChunkPlanes]; }
    [[nodiscard]] int iterations(std::size_t i) const {
        return static_cast<int>(chunk(i).iterations[i % kChunkPlanes]);
    }
    /// The plane's motion at the minimum, after solve_planes, in the basis tangents(normal).
    [[nodiscard]] PlaneMotion motion(std::size_t i) const;

    [[nodiscard]] PlaneChunk* chunks() { return chunks_.data(); }
    [[nodiscard]] const PlaneChunk* chunks() const { return chunks_.data(); }
    [[nodiscard]] PlaneDualChunk* duals() { return duals_.data(); }
    [[nodiscard]] std::size_t num_chunks() const { return (size_ + kChunkPlanes - 1) / kChunkPlanes; }

 private:
    PlaneChunk& grow();  ///< by one plane; its chunk
    [[nodiscard]] const PlaneChunk& chunk(std::size_t i) const { return chunks_[i / kChunkPlanes]; }

    std::vector<PlaneChunk> chunks_;
    std::vector<PlaneDualChunk> duals_;
    std::size_t size_ = 0;
};

/// Pads the last chunk with idle planes and derives what depends on the lagged state only. Searches start from least squares again.
void prepare_planes(PlaneBatch& batch);

/// Minimises over every plane's motion and returns the sum of energies.
double solve_planes(PlaneBatch& batch, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                    const PlaneStop& stop);

/// After solve_planes with kPlaneDerivatives at the same motions: adds derivatives, not the energy.
void add_planes(PlaneBatch& batch, const BodyMotion& a, const BodyMotion& b, const SlipModel& model, FrictionSum& sum,
                Multiplier multiplier = Multiplier::Exact);

/// As add_planes: fills `out`, one chunk of adjoints per chunk of the batch, and adds to `sums`.
void planes_vjp(const PlaneBatch& batch, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                const Vector6d& twist_a, const Vector6d& twist_b, std::vector<PlaneAdjointChunk>& out,
                PlaneAdjointSums& sums);

}  // namespace farfield::contact
