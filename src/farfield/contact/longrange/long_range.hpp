// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The long-range contact model: every pair of bodies repels at every distance, smoothly, and never touches.
///
/// Energy:    E = weight sum over pairs of P + friction, P the blended separating-plane potential of pair_work.hpp (mesh pairs)
///            and half_space_work.hpp (half-spaces), friction lagged as in lagged_friction.hpp
/// Paper:     [LongRange]; deviations are named where they are made
///
/// A pair's friction coefficient is that of its `friction_body`.
#include <memory>
#include <string>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/contact/longrange/memory.hpp"
#include "farfield/contact/longrange/options.hpp"
#include "farfield/contact/longrange/shape.hpp"
#include "farfield/model/collision_geometry.hpp"

namespace farfield::contact::longrange {

class LongRange : public ContactPotential {
 public:
    LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options);

    [[nodiscard]] std::unique_ptr<ContactMemory> make_memory(ThreadPool* pool = nullptr) const override;
    ContactStep& begin_step(const Poses& previous, double dt, const Parameters& parameters, ContactMemory& memory,
                            StepMode mode = StepMode::Forward) const override;

    [[nodiscard]] const Shape& shape(int body) const { return shapes_[static_cast<std::size_t>(body)]; }

 protected:
    LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options, bool hierarchy);

 private:
    friend class Memory;
    struct Placed;  // a pair of bodies at given poses
    struct Facing;  // a mesh and a half-space within it

    [[nodiscard]] Placed place(int pair, const Poses& poses, const std::vector<RotatedShape>& rotated) const;
    /// work(index, facing) for every half-space of either body that faces the mesh of the other.
    template <class Work>
    void for_each_half_space(const Placed& at, Work&& work) const;
    void prepare(const Poses& poses, Poses& scaled, std::vector<RotatedShape>& rotated) const;
    [[nodiscard]] SlipModel slip_model(double dt, bool fixed_plane) const;
    template <class Work>
    void for_each_pair(Memory& memory, Work&& work) const;
    [[nodiscard]] Memory& own(ContactMemory& memory) const;
    void check(const Poses& poses) const;
    void check(const Parameters& parameters) const;
    [[nodiscard]] double energy(const Poses& poses, Memory& memory) const;
    void linearize(const Poses& poses, Memory& memory, ContactLinearization& out) const;
    void vjp(std::span<const Twists> directions, Memory& memory, std::span<ContactGradient> out) const;

    void pair_energy(const Placed& at, bool with_friction, Memory& memory, PairScratch& scratch,
                     PairResult& result) const;
    void pair_derivatives(const Placed& at, double weight, double coefficient, Memory& memory, PairScratch& scratch,
                          PairResult& result, PairBlock& block) const;
    void pair_lag(const Placed& at, Memory& memory, PairScratch& scratch) const;
    void pair_vjp(int pair, std::span<const Twists> directions, Memory& memory, PairScratch& scratch) const;
    void direction_vjp(const Placed& start, const Twists& twists, Memory& memory, PairScratch& scratch,
                       PairAdjoint& adjoint) const;
    void mesh_friction_vjp(PairMemory& own, const BodyMotion& a, const BodyMotion& b, const Vector6d& twist_a,
                           const Vector6d& twist_b, PairScratch& scratch, double dt, PairAdjoint& adjoint) const;
    [[noreturn]] void refuse_touching(const Placed& at, const Eigen::Vector3d& where) const;

    LongRangeOptions options_;
    PotentialForm form_;
    std::vector<Shape> shapes_;
    std::vector<std::string> names_;
    std::vector<ContactPair> pairs_;
};

/// All pairs of triangles, all vertices, no blending: the oracle in tests and the baseline in benchmarks.
class BruteForce final : public LongRange {
 public:
    BruteForce(const CollisionGeometry& geometry, const LongRangeOptions& options)
        : LongRange(geometry, options, false) {}
};

}  // namespace farfield::contact::longrange
