// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The long-range contact model: every pair of bodies repels at every distance, smoothly, and never touches.
///
/// Energy:    E = sum over pairs of weight P + friction, P the blended separating-plane potential of pair_work.hpp (mesh pairs)
///            and half_space_work.hpp (half-spaces), friction lagged as in lagged_friction.hpp; weights as in pairwise_potential.hpp
/// Paper:     [LongRange]; deviations are named where they are made
#include <memory>
#include <span>
#include <vector>

#include "farfield/contact/longrange/memory.hpp"
#include "farfield/contact/longrange/options.hpp"
#include "farfield/contact/longrange/shape.hpp"
#include "farfield/contact/pairwise/pairwise_potential.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact::longrange {

/// l0 of a pair [m].
[[nodiscard]] double automatic_length(const PairUnits& units);
/// The weight [J], with automatic_length, at which the lighter of two boxes rests on the other at about a hundredth of its size.
[[nodiscard]] double automatic_weight(const PairUnits& units, LeafWeights leaf_weights);

class LongRange final : public PairwisePotential {
 public:
    LongRange(const Model& model, const LongRangeOptions& options);
    /// Without masses to go by: weights of 1 J and lengths of 1 m unless given.
    LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options);

    /// Where something is round, other surfaces than the model's.
    [[nodiscard]] std::shared_ptr<const CollisionGeometry> surfaces(const Parameters&) const override {
        return surfaces_;
    }

    [[nodiscard]] const Shape& shape(int body) const { return shapes_[static_cast<std::size_t>(body)]; }

 private:
    struct PairView {  // a pair of bodies at given poses
        std::size_t a = 0, b = 0;
        const Shape *shape_a = nullptr, *shape_b = nullptr;
        const RotatedShape *rotated_a = nullptr, *rotated_b = nullptr;
        Pose pose_a, pose_b;  ///< lengths divided by l0
        const PotentialForm* form = nullptr;

        [[nodiscard]] bool meshes() const { return shape_a->has_mesh() && shape_b->has_mesh(); }
        [[nodiscard]] PairFrame frame() const {
            return make_frame(*rotated_a, *rotated_b, pose_a.position, pose_b.position, form->scale);
        }
    };
    struct SideView {  // a mesh and a half-space of the other body
        const Shape* mesh = nullptr;
        const RotatedShape* rotated = nullptr;
        HalfSpaceFrame frame;
    };
    struct Motions {  // of both bodies since the start of the step
        BodyMotion a, b;
    };

    LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options, const Model* model);

    std::unique_ptr<PairwiseMemory> new_memory(ThreadPool* pool) const override;
    void move_to_start(const Poses& poses, PairwiseMemory& memory) const override;
    void move_to_now(const Poses& poses, PairwiseMemory& memory) const override;
    void lag(int pair, PairwiseMemory& memory) const override;
    /// Between bounding spheres, or a sphere and a half-space [m].
    [[nodiscard]] double sphere_gap(int pair, const Poses& poses) const;
    /// Near pairs out of range that nothing was lagged for are not active, and bodies of no active pair are not rotated.
    void find_active(const Poses& poses, bool at_start, Memory& memory, std::vector<RotatedShape>& rotated) const;
    void pair_energy(int pair, PairwiseMemory& memory, PairResult& result) const override;
    void pair_linearize(int pair, PairwiseMemory& memory, PairResult& result, PairBlock& block) const override;
    bool pair_friction(int pair, PairwiseMemory& memory, PairBlock& block) const override;
    void pair_vjp(int pair, std::span<const Twists> directions, PairwiseMemory& memory) const override;

    [[nodiscard]] PairView view(int pair, const Poses& poses, const std::vector<RotatedShape>& rotated) const;
    [[nodiscard]] static SideView view(const HalfSpaceSide& side, const PairView& pair);
    /// Between the poses of the start and now, both of the same pair.
    [[nodiscard]] static Motions mesh_motions(const PairView& start, const PairView& now, const LaggedMeshPair& lagged);
    [[nodiscard]] static Motions half_space_motions(const HalfSpaceSide& side, const PairView& start,
                                                    const PairView& now, const LaggedHalfSpace& lagged);
    [[nodiscard]] SlipModel slip_model(int pair, double dt, bool fixed_plane) const;
    [[nodiscard]] bool solve(const PairView& pair, const PairFrame& frame, Wanted wanted, double tolerance,
                             PlaneTable& planes, PairWork& work) const;
    void mesh_vjp(const Motions& motions, const Vector6d& twist_a, const Vector6d& twist_b, const SlipModel& slip,
                  PairMemory& cache, PairScratch& scratch, PairAdjoint& adjoint) const;
    void half_space_vjp(const Motions& motions, const Vector6d& twist_mesh, const Vector6d& twist_plane,
                        const SlipModel& slip, const LaggedHalfSpace& lagged, const HalfSpaceWork& work, int pair,
                        PairScratch& scratch, bool surface_first, PairAdjoint& adjoint) const;

    LongRangeOptions options_;
    std::shared_ptr<const CollisionGeometry> surfaces_;  ///< null: as given
    std::vector<PotentialForm> forms_;                   ///< per pair
    std::vector<FrictionRamp> ramps_;                    ///< per pair
    std::vector<Shape> shapes_;
};

}  // namespace farfield::contact::longrange
