// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Convex-polyhedron contact: bodies are unions of convex hulls, every pair of hulls repels below a range, and never touches.
///
/// Energy:    E = (weight / default weight) sum over body pairs of kappa sum over hull pairs of U + friction, U that of hull_pair.hpp, and of
///            half_space.hpp above half-spaces; friction lagged as in lagged_friction.hpp
/// Paper:     [SDRS2025]; deviations are named where they are made
/// Deviation: kappa [J] is not the user's: per body pair kappa = W l s^2/(30 m), W the weight of the lighter tree of bodies, m = 4
///            vertices, l the length scale; then the lighter rests at about half the range on four vertices. It is fixed when the
///            model is built. Parameters::weight acts relative to the model's default, so that doubling it doubles kappa.
///
/// Hull vertices are those of Parameters. A pair's coefficient is that of its `friction_body`.
#include <memory>
#include <string>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/contact/polyhedral/memory.hpp"
#include "farfield/contact/polyhedral/options.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact::polyhedral {

/// One hundredth of the largest moving body's diagonal, but at most twice the smallest gap in the reference pose (bodies that are
/// described as resting start near the middle of the range), and never below a thousandth of the diagonal. [m]
[[nodiscard]] double automatic_range(const Model& model);

class Polyhedral : public ContactPotential {
 public:
    /// Everything needed is copied from the model.
    Polyhedral(const Model& model, const PolyhedralOptions& options);

    [[nodiscard]] std::unique_ptr<ContactMemory> make_memory(ThreadPool* pool = nullptr) const override;
    ContactStep& begin_step(const Poses& previous, double dt, const Parameters& parameters, ContactMemory& memory,
                            StepMode mode = StepMode::Forward) const override;
    /// The hulls' surfaces; body pairs whose hulls overlap in the reference pose of one machine take no part.
    [[nodiscard]] std::shared_ptr<const CollisionGeometry> surfaces(const Parameters& parameters) const override;

    [[nodiscard]] double range() const { return range_; }  ///< [m]
    [[nodiscard]] const std::vector<ContactPair>& pairs() const { return pairs_; }
    /// Body pairs left out because their hulls, not their surfaces, overlap in the reference pose.
    [[nodiscard]] const std::vector<std::string>& excluded_pairs() const { return excluded_; }

 private:
    friend struct Memory;
    struct Hull {
        int body = 0, first = 0, count = 0;
        Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor> triangles;
        bool flat = false;
    };
    struct Placed {  // a pair of bodies at scaled poses
        int pair = 0;
        const Pose *a = nullptr, *b = nullptr;
    };

    void set_bodies(const Model& model);
    void set_pairs(const Model& model);
    void set_weights(const Model& model);
    [[nodiscard]] CollisionGeometry surfaces_of(const decltype(Parameters::hull_vertices)& vertices,
                                                bool reshaped) const;
    [[nodiscard]] PairScale scale(int pair) const;
    [[nodiscard]] HullColumns columns(int hull, const Memory& memory) const;
    [[nodiscard]] Memory& own(ContactMemory& memory) const;
    void check(const Poses& poses) const;
    void check(const Parameters& parameters) const;
    [[nodiscard]] double energy(const Poses& poses, Memory& memory) const;
    void linearize(const Poses& poses, Memory& memory, ContactLinearization& out) const;
    void vjp(std::span<const Twists> directions, Memory& memory, std::span<ContactGradient> out) const;
    [[nodiscard]] SlipModel slip_model(double dt, bool half_space) const;
    [[nodiscard]] Placed place(int pair, const Poses& scaled) const;
    void take_vertices(const Parameters& parameters, Memory& memory) const;
    void scale_poses(const Poses& poses, Poses& scaled) const;
    void broad_phase(const Poses& poses, bool rebuild, Memory& memory) const;
    void list_near(int pair, Memory& memory) const;
    void list_half_spaces(int pair, const Poses& poses, Memory& memory) const;
    void find_work(const Poses& poses, bool rebuild, Memory& memory) const;
    /// work(slot, pair) for every pair of memory.work.
    template <class Work>
    void for_each_pair(const Memory& memory, Work&& work) const;
    /// work(frame, hulls' body is the first of the pair, its hulls) for the listed half-spaces.
    template <class Work>
    void for_each_half_space(const Placed& at, const PairMemory& pair, Work&& work) const;

    void pair_energy(const Placed& at, bool rubs, Memory& memory, PairResult& result) const;
    void pair_derivatives(const Placed& at, double coefficient, Memory& memory, PairResult& result,
                          PairBlock& block) const;
    void pair_lag(const Placed& at, Memory& memory) const;
    void pair_contact_vjp(const Placed& at, const Twists& twists, const Memory& memory, PairAdjoint& adjoint) const;
    void pair_friction_vjp(const Placed& at, const Placed& start, const Twists& twists, const Memory& memory,
                           PairAdjoint& adjoint) const;
    void add_pair_vertices(const Placed& at, const HullPair& near, const Vector12d& twist, const Memory& memory,
                           PairAdjoint& adjoint) const;
    void add_height_vertices(const HalfSpaceFrame& frame, int body, const Pose& pose, int pair, const Vector12d& twist,
                             const Memory& memory, PairAdjoint& adjoint) const;
    [[noreturn]] void refuse_touching(int pair) const;

    PolyhedralOptions options_;
    double range_ = 0.0, length_ = 1.0, default_weight_ = 1.0;
    std::vector<Hull> hulls_;
    std::vector<std::vector<int>> hulls_of_;  ///< per body
    std::vector<std::vector<HalfSpace>> half_spaces_;
    std::vector<std::string> names_;
    std::vector<ContactPair> pairs_;
    std::vector<std::vector<std::pair<int, int>>> partners_;  ///< per body a: (b, pair), ascending
    std::vector<int> half_space_pairs_;
    std::vector<double> weights_;
    decltype(Parameters::hull_vertices) default_vertices_;
    std::vector<CollisionBody> bodies_;  ///< without meshes
    std::vector<std::string> excluded_;
    std::shared_ptr<const CollisionGeometry> default_surfaces_;
};

}  // namespace farfield::contact::polyhedral
