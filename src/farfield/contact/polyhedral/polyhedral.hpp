// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Convex-polyhedron contact: bodies are unions of convex hulls, every pair of hulls repels below a range, and never touches.
///
/// Energy:    E = sum over body pairs of kappa sum over hull pairs of U + friction, U that of hull_pair.hpp, and of half_space.hpp above
///            half-spaces; friction lagged as in lagged_friction.hpp; kappa is the pair's weight of pairwise_potential.hpp
/// Paper:     [SDRS2025]; deviations are named where they are made
/// Deviation: kappa [J] is not the user's by default: per body pair kappa = W l s^2/(30 m), W the weight of the lighter link (see
///            pair_units.hpp), m = 4 vertices, l the pair's length; then the lighter rests at about half the range on four vertices.
///
/// Hull vertices are those of Parameters.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "farfield/contact/pairwise/pairwise_potential.hpp"
#include "farfield/contact/polyhedral/memory.hpp"
#include "farfield/contact/polyhedral/options.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact::polyhedral {

/// Two hundredths of the pair's size, but at most twice the gap of its hulls in the reference pose (bodies that are described as resting
/// start near the middle of the range), and never below two thousandths of the size [m].
[[nodiscard]] double automatic_range(const PairUnits& units, double reference_gap);
/// kappa [J]; `length`: what a scaled unit is worth [m].
[[nodiscard]] double automatic_weight(const PairUnits& units, double length, double margin);

class Polyhedral final : public PairwisePotential {
 public:
    /// Everything needed is copied from the model.
    Polyhedral(const Model& model, const PolyhedralOptions& options);

    /// The hulls' surfaces; body pairs whose hulls overlap in the reference pose of one machine take no part.
    [[nodiscard]] std::shared_ptr<const CollisionGeometry> surfaces(const Parameters& parameters) const override;

    [[nodiscard]] const std::vector<double>& ranges() const { return ranges_; }  ///< per pair [m]
    /// Body pairs left out because their hulls, not their surfaces, overlap in the reference pose.
    [[nodiscard]] const std::vector<std::string>& excluded_pairs() const { return excluded_; }

 private:
    struct Hull {
        int body = 0, first = 0, count = 0;
        Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor> triangles;
        bool flat = false;
    };
    struct PairView {  // a pair of bodies, poses scaled
        int index = 0, a = 0, b = 0;
        Pose pose_a, pose_b;

        [[nodiscard]] Pose b_in_a() const;
    };
    struct PairChoice {
        std::vector<ContactPair> pairs;
        std::vector<std::string> excluded;
    };
    [[nodiscard]] static PairChoice choose_pairs(const Model& model);
    Polyhedral(const Model& model, const PolyhedralOptions& options, PairChoice choice);

    std::unique_ptr<PairwiseMemory> new_memory(ThreadPool* pool) const override;
    void take_vertices(const Parameters& parameters, PairwiseMemory& memory) const override;
    void move_to_start(const Poses& poses, PairwiseMemory& memory) const override;
    void move_to_now(const Poses& poses, PairwiseMemory& memory) const override;
    void find_far_gaps(PairwiseMemory& memory) const override;
    void lag(int pair, PairwiseMemory& memory) const override;
    void pair_energy(int pair, PairwiseMemory& memory, PairResult& result) const override;
    void pair_linearize(int pair, PairwiseMemory& memory, PairResult& result, PairBlock& block) const override;
    bool pair_friction(int pair, PairwiseMemory& memory, PairBlock& block) const override;
    void pair_vjp(int pair, std::span<const Twists> directions, PairwiseMemory& memory) const override;

    void set_hulls(const Model& model);
    [[nodiscard]] CollisionGeometry surfaces_of(const decltype(Parameters::hull_vertices)& vertices,
                                                bool reshaped) const;
    [[nodiscard]] PairScale scale(int pair, const Memory& memory) const;
    /// As a pair sees it.
    [[nodiscard]] HullColumns columns(int hull, int pair, const Memory& memory) const;
    [[nodiscard]] SlipModel slip_model(int pair, double dt, bool half_space) const;
    [[nodiscard]] PairView view(int pair, const Poses& poses) const;
    void find_active(const Poses& poses, bool rebuild, Memory& memory) const;
    void broad_phase(const Poses& poses, bool rebuild, Memory& memory) const;
    void list_near(int pair, Memory& memory) const;
    void list_half_spaces(int pair, const Poses& poses, Memory& memory) const;
    /// work(frame, hulls' body, its pose, whether it is the first of the pair) for the listed half-spaces.
    template <class Work>
    void for_each_half_space(const PairView& at, const PairMemory& pair, Work&& work) const;
    /// Sums over all hulls of a body; false when a vertex is not above the half-space.
    [[nodiscard]] bool add_body_above(const HalfSpaceFrame& frame, int body, int pair, const Pose& pose,
                                      const Memory& memory, HullSums& sums) const;

    void potential_vjp(const PairView& at, const Twists& twists, const Memory& memory, PairAdjoint& adjoint) const;
    void friction_vjp(const PairView& at, const PairView& start, const Twists& twists, const Memory& memory,
                      PairAdjoint& adjoint) const;
    void add_pair_vertices(const PairView& at, const HullPair& near, const Vector12d& twist, const Memory& memory,
                           PairAdjoint& adjoint) const;
    void add_height_vertices(const HalfSpaceFrame& frame, int body, const Pose& pose, int pair, const Vector12d& twist,
                             const Memory& memory, PairAdjoint& adjoint) const;
    [[noreturn]] void refuse(int pair) const;

    PolyhedralOptions options_;
    std::vector<double> ranges_;  ///< per pair
    double reach_ = 0.0;          ///< the largest
    std::vector<Hull> hulls_;
    std::vector<std::vector<int>> hulls_of_;                  ///< per body
    std::vector<std::vector<std::pair<int, int>>> partners_;  ///< per body a: (b, pair), ascending
    std::vector<int> half_space_pairs_;
    decltype(Parameters::hull_vertices) default_vertices_;
    std::vector<CollisionBody> bodies_;  ///< without meshes
    std::vector<std::string> excluded_;
    std::shared_ptr<const CollisionGeometry> default_surfaces_;
};

}  // namespace farfield::contact::polyhedral
