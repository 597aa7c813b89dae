// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The IPC contact model: a barrier between the features of surfaces that are nearer than a range.
///
/// Energy:    E = weight sum over pairs of scale sum over features of m b + friction; vertex-triangle and edge-edge pairs of the two
///            meshes, b as in barrier.hpp, m = 1 but for nearly parallel edges (closest.hpp), friction as in lagged_friction.hpp;
///            a mesh above a half-space: b of every vertex's height
/// Paper:     [Li2020]; the global form replaces the barrier alone and looks at all pairs of features
///
/// A pair's friction coefficient is that of its `friction_body`.
#include <memory>
#include <string>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/contact/ipc/memory.hpp"
#include "farfield/contact/ipc/options.hpp"
#include "farfield/contact/ipc/shape.hpp"
#include "farfield/model/collision_geometry.hpp"

namespace farfield::contact::ipc {

class Ipc final : public ContactPotential {
 public:
    Ipc(const CollisionGeometry& geometry, const IpcOptions& options);

    [[nodiscard]] std::unique_ptr<ContactMemory> make_memory(ThreadPool* pool = nullptr) const override;
    ContactStep& begin_step(const Poses& previous, double dt, const Parameters& parameters, ContactMemory& memory,
                            StepMode mode = StepMode::Forward) const override;

 private:
    friend class Memory;
    struct Placed;   // a pair of bodies at given poses
    struct Facing;   // a mesh above a half-space within it
    struct Nearest;  // what a pass over all terms has seen

    void prepare(const Poses& poses, std::vector<PlacedShape>& placed) const;
    [[nodiscard]] Placed place(int pair, const Poses& poses, const std::vector<PlacedShape>& placed) const;
    template <class Work>
    void for_each_half_space(const Placed& at, Work&& work) const;
    /// visit(closest, mollifier) for every pair of features within range, in the frame of A's tree. Infinite when triangles meet.
    template <class Visit>
    Nearest for_each_term(const Placed& at, PairMemory& memory, Visit&& visit) const;
    /// visit(x, z) for every vertex within range: place in the frame of the mesh's tree, and height.
    template <class Visit>
    Nearest for_each_height(const Facing& facing, Visit&& visit) const;
    /// Whether bounding spheres allow the pair to act, and their gap.
    [[nodiscard]] bool may_act(const Placed& at, double& gap) const;
    /// Lists the pairs that may act at `poses` or have friction, with the gaps of all.
    void find_near(const Poses& poses, const std::vector<PlacedShape>& placed, Memory& memory) const;
    /// work(slot, pair) for every pair of memory.near.
    template <class Work>
    void for_each_pair(const Memory& memory, Work&& work) const;
    [[nodiscard]] Memory& own(ContactMemory& memory) const;
    void check(const Poses& poses) const;
    void check(const Parameters& parameters) const;
    [[nodiscard]] double energy(const Poses& poses, Memory& memory) const;
    void linearize(const Poses& poses, Memory& memory, ContactLinearization& out) const;
    void vjp(std::span<const Twists> directions, Memory& memory, std::span<ContactGradient> out) const;
    [[nodiscard]] Slip slip(const Placed& now, const Placed& start, double dt) const;

    void pair_energy(const Placed& now, const Slip* slip, Memory& memory, PairResult& result) const;
    void pair_derivatives(const Placed& now, double weight, double coefficient, const Slip* slip, Memory& memory,
                          PairResult& result, PairBlock& block) const;
    void pair_lag(const Placed& start, Memory& memory) const;
    void pair_friction_vjp(const Placed& start, const Slip& slip, std::span<const Twists> directions,
                           Memory& memory) const;
    [[noreturn]] void refuse_touching(const Placed& at) const;

    IpcOptions options_;
    Barrier barrier_;
    std::vector<Shape> shapes_;
    std::vector<std::string> names_;
    std::vector<ContactPair> pairs_;
};

}  // namespace farfield::contact::ipc
