// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What all models of body pairs share: argument checks, weights and friction coefficients of a step, the loop over pairs on
///        threads, sums in the order of pairs, and the adjoints by parameters and previous poses.
///
/// Energy:    E = sum over pairs of  weight_p (P_p + coefficient_p D_p)
///            weight_p = contact_stiffness * pair_weights()[p] [J],   coefficient_p = max(friction[a], friction[b]) or the pair's
/// with P the potential of a pair and D its lagged friction; a model supplies both, pair by pair. Everything is of the parameters given
/// to begin_step. Both bodies share the gradient by friction where their coefficients are equal.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/contact/pairwise/pair_units.hpp"
#include "farfield/contact/pairwise/pair_vectors.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact {

/// Of one pair, one evaluation.
struct PairResult {
    bool finite = true;
    double energy = 0.0, friction = 0.0;  ///< [J], as in ContactLinearization
    Vector12d gradient = Vector12d::Zero();
};

/// Of one pair and one direction of a vjp; all per unit of the friction coefficient unless said otherwise.
struct PairAdjoint {
    double phi = 0.0;    ///< of the friction energy
    StartAdjoint start;  ///< of phi
    using Rows =
        std::vector<std::pair<int, Eigen::Vector3d>>;  ///< row of Parameters::hull_vertices, its part of the gradient
    Rows vertices;                                     ///< of the potential, whatever the coefficient
    Rows friction_vertices;

    void clear();
};

class PairwisePotential;

/// The memory of a rollout and the step under way in it. Models add what they keep per pair.
class PairwiseMemory : public ContactMemory, public ContactStep {
 public:
    PairwiseMemory(const PairwisePotential& model, ThreadPool* pool);
    [[nodiscard]] double energy(const Poses& poses) final;
    void linearize(const Poses& poses, ContactLinearization& out) final;
    void linearize_friction(const Poses& poses, std::vector<PairBlock>& out) final;
    void accept() final;
    void vjp(std::span<const Twists> directions, std::span<ContactGradient> out) final;

    [[nodiscard]] PairAdjoint& adjoint(int pair, std::size_t direction) {
        return adjoints_[direction * weights.size() + static_cast<std::size_t>(pair)];
    }

    // The step, for the model to read
    StepMode mode = StepMode::Frictionless;
    double dt = 0.0;
    std::vector<double> weights, coefficients;  ///< per pair; coefficients are 0 in a frictionless step
    Poses previous, poses;                      ///< at the start and now [m]
    Multiplier multiplier = Multiplier::Exact;  ///< of friction, in pair_linearize
    // For the model to fill
    std::vector<int> active;   ///< pairs to evaluate, ascending
    std::vector<double> gaps;  ///< per pair: lower bound of the distance of pairs that are not active [m]

 protected:
    /// A step must begin before anything else is asked.
    void forget_step() { linearized_ = false; }

 private:
    friend class PairwisePotential;
    void begin(const Poses& start, double step_length, const Parameters& parameters, StepMode step_mode);
    void move_to(const Poses& now);
    template <class Work>
    void for_each(const std::vector<int>& pairs, const Work& work);
    void add_friction(int pair, PairBlock& block);

    const PairwisePotential& model_;
    ThreadPool* pool_ = nullptr;
    double stiffness_ = 1.0;
    Eigen::VectorXd friction_;  ///< per body
    bool linearized_ = false;
    std::vector<PairResult> results_;
    std::vector<int> with_friction_;     ///< pairs with friction when last linearised
    std::vector<PairAdjoint> adjoints_;  ///< per pair, direction by direction
};

/// A half-space of one body of a pair that faces the surface of the other.
struct HalfSpaceSide {
    bool surface_first = true;  ///< the surface is that of the pair's first body
    HalfSpace half_space;       ///< lengths divided by the pair's length
};

class PairwisePotential : public ContactPotential {
 public:
    [[nodiscard]] std::unique_ptr<ContactMemory> make_memory(ThreadPool* pool = nullptr) const final;
    ContactStep& begin_step(const Poses& previous, double dt, const Parameters& parameters, ContactMemory& memory,
                            StepMode mode = StepMode::Forward) const final;
    [[nodiscard]] const std::vector<double>& pair_weights() const final { return weights_; }
    [[nodiscard]] const std::vector<ContactPair>& pairs() const { return pairs_; }

 protected:
    /// What a model is built from. `name` stands in every complaint.
    struct Build {
        std::string name;
        const CollisionGeometry& geometry;
        std::vector<ContactPair> pairs;
        const Model* model = nullptr;  ///< null: only the geometry is known
        bool reads_vertices = false;   ///< honours Parameters::hull_vertices
    };
    explicit PairwisePotential(Build build);
    // For the constructor of a model, once each.
    /// `automatic` per pair, or the same `given` weight for all [J].
    void set_weights(double stiffness, const std::optional<double>& given, std::vector<double> automatic);
    /// Per pair, the length [m] by which a model divides what it sees of it. Without this call: 1.
    void set_lengths(std::vector<double> lengths);
    /// The same `given` speed for all [m/s], or automatic_slip_speed.
    void set_slip_speeds(const std::optional<double>& given);

    [[nodiscard]] const std::string& name(int body) const { return names_[static_cast<std::size_t>(body)]; }
    [[nodiscard]] const ContactPair& pair(int index) const { return pairs_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] int num_pairs() const { return static_cast<int>(pairs_.size()); }
    [[nodiscard]] std::size_t num_bodies() const { return names_.size(); }
    [[nodiscard]] const PairUnits& units(int index) const { return units_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] double length(int index) const { return lengths_[static_cast<std::size_t>(index)]; }
    [[nodiscard]] double slip_speed(int index) const { return slip_speeds_[static_cast<std::size_t>(index)]; }
    /// A pose with its position divided by the pair's length.
    [[nodiscard]] Pose scaled(const Pose& pose, int index) const {
        return {pose.rotation, pose.position / length(index)};
    }
    [[nodiscard]] const std::vector<HalfSpaceSide>& half_space_sides(int index) const {
        return sides_[static_cast<std::size_t>(index)];
    }
    /// `where` [m]: a place near the contact, if known.
    [[noreturn]] void refuse_touching(int pair, const Eigen::Vector3d* where = nullptr, const char* advice = "") const;

 private:
    friend class PairwiseMemory;
    // What a model supplies. Calls for different pairs may come at the same time.
    [[nodiscard]] virtual std::unique_ptr<PairwiseMemory> new_memory(ThreadPool* pool) const = 0;
    virtual void take_vertices(const Parameters& /*parameters*/, PairwiseMemory& /*memory*/) const {}
    /// Brings the model to `poses`, which memory.previous or memory.poses hold too, and lists memory.active. At the start it also drops
    /// what was lagged before.
    virtual void move_to_start(const Poses& poses, PairwiseMemory& memory) const = 0;
    virtual void move_to_now(const Poses& poses, PairwiseMemory& memory) const = 0;
    /// Sets memory.gaps of the pairs that are not active, unless move_to_now has done it.
    virtual void find_far_gaps(PairwiseMemory& /*memory*/) const {}
    /// Throws when the bodies touch.
    virtual void lag(int pair, PairwiseMemory& memory) const = 0;
    virtual void pair_energy(int pair, PairwiseMemory& memory, PairResult& result) const = 0;
    /// Without friction. Fills `hessian` and `gap` of the block, which start at zero and infinity.
    virtual void pair_linearize(int pair, PairwiseMemory& memory, PairResult& result, PairBlock& block) const = 0;
    /// Adds lagged friction at memory.poses to that of the block, which starts at zero: the coefficient, not zero, and the weight
    /// included. It may look at nothing but poses and what was lagged. False when the pair has no friction.
    virtual bool pair_friction(int pair, PairwiseMemory& memory, PairBlock& block) const = 0;
    /// Adds to memory.adjoint(pair, k) for every direction k. Only for pairs active when last linearised.
    virtual void pair_vjp(int pair, std::span<const Twists> directions, PairwiseMemory& memory) const = 0;

    void check(const Poses& poses) const;
    void check(const Parameters& parameters) const;

    std::string model_name_;
    std::vector<std::string> names_;
    std::vector<bool> has_surface_;
    std::vector<std::vector<HalfSpace>> half_spaces_;
    std::vector<ContactPair> pairs_;
    std::vector<PairUnits> units_;
    std::vector<double> weights_, lengths_, slip_speeds_;
    std::vector<bool> uses_friction_;  ///< per body: its friction is asked for
    std::vector<std::vector<HalfSpaceSide>> sides_;
    bool reads_vertices_ = false;
    std::optional<Eigen::VectorXd> default_friction_;
    std::optional<decltype(Parameters::hull_vertices)> default_vertices_;
};

}  // namespace farfield::contact
