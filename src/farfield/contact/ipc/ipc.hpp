// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The IPC contact model: a barrier between the features of surfaces that are nearer than a range.
///
/// Energy:    E = sum over pairs of weight sum over features of m b + friction; vertex-triangle and edge-edge pairs of the two meshes,
///            b as in barrier.hpp, m = 1 but for nearly parallel edges (closest.hpp), friction as in lagged_friction.hpp; a mesh above a
///            half-space: b of every vertex's height. Weights as in pairwise_potential.hpp
/// Paper:     [Li2020]; the global form replaces the barrier alone and looks at all pairs of features
#include <memory>
#include <span>
#include <vector>

#include "farfield/contact/ipc/memory.hpp"
#include "farfield/contact/ipc/options.hpp"
#include "farfield/contact/ipc/shape.hpp"
#include "farfield/contact/pairwise/pairwise_potential.hpp"
#include "farfield/contact/pairwise/relative_sum.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact::ipc {

class Ipc final : public PairwisePotential {
 public:
    Ipc(const Model& model, const IpcOptions& options);
    /// Without masses to go by: weights of 1 J and a length of 1 m unless given.
    Ipc(const CollisionGeometry& geometry, const IpcOptions& options);

 private:
    struct PairView;  // a pair of bodies at given poses
    struct SideView;  // a mesh above a half-space within it
    struct Nearest;

    Ipc(const CollisionGeometry& geometry, const IpcOptions& options, const Model* model);

    std::unique_ptr<PairwiseMemory> new_memory(ThreadPool* pool) const override;
    void move_to_start(const Poses& poses, PairwiseMemory& memory) const override;
    void move_to_now(const Poses& poses, PairwiseMemory& memory) const override;
    void lag(int pair, PairwiseMemory& memory) const override;
    void pair_energy(int pair, PairwiseMemory& memory, PairResult& result) const override;
    void pair_linearize(int pair, PairwiseMemory& memory, PairResult& result, PairBlock& block) const override;
    bool pair_friction(int pair, PairwiseMemory& memory, PairBlock& block) const override;
    void pair_vjp(int pair, std::span<const Twists> directions, PairwiseMemory& memory) const override;

    /// visit(closest, mollifier) for every pair of features within range, in the frame of A's tree. Infinite when triangles meet.
    template <class Visit>
    static Nearest for_each_term(const Barrier& barrier, const PairView& at, PairMemory& memory, Visit&& visit);
    /// visit(x, z) for every vertex within range: position in the frame of the mesh's tree, and height.
    template <class Visit>
    static Nearest for_each_height(const Barrier& barrier, const SideView& side, Visit&& visit);
    /// Lists the pairs that may act at `poses` by their bounding spheres or have friction, with the gaps of all.
    void find_active(const Poses& poses, const std::vector<WorldShape>& world, Memory& memory) const;
    [[nodiscard]] Slip slip(int pair, const Memory& memory) const;
    [[noreturn]] void refuse(int pair, const PairView& at) const;

    [[nodiscard]] const Barrier& barrier(int pair) const { return barriers_[static_cast<std::size_t>(pair)]; }

    std::vector<Barrier> barriers_;  ///< per pair
    std::vector<Shape> shapes_;
};

}  // namespace farfield::contact::ipc
