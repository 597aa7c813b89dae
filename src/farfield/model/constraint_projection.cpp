// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/constraint_projection.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/math/dense.hpp"
#include "farfield/model/constraint.hpp"
#include "farfield/model/mass_matrix.hpp"

namespace farfield {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kBroken = 1e-4;  // [m or rad]
constexpr int kIterations = 60;
constexpr int kHalvings = 20;
constexpr double kArrived = 1e-13;
constexpr double kRedundant = 1e-9;  // of the largest eigenvalue of G X G^T

class Projection {
 public:
    Projection(const Model& model, const Parameters& parameters) : model_(model), parameters_(parameters) {}

    [[nodiscard]] double residual(const VectorXd& q, VectorXd& value) {
        forward_kinematics(model_, parameters_, q, kinematics_);
        set_constraint_values(model_, kinematics_, q, value);
        return value.size() ? value.lpNorm<Eigen::Infinity>() : 0.0;
    }

    /// Sets G and what makes a change of velocities out of violations, at q.
    void linearize(const VectorXd& q) {
        forward_kinematics(model_, parameters_, q, kinematics_);
        set_constraint_rows(model_, kinematics_, q, rows_);
        mass_matrix(model_, parameters_, kinematics_, bodies_, mass_);
        const MatrixXd& E = model_.reduction().E;
        const DenseCholesky factor(congruence(E, mass_));
        if (!factor.positive())
            fail("constraints: the mass matrix is not positive definite, expected mass or armature on every joint");
        const MatrixXd reduced = product(rows_.jacobian, E), response = factor.solve(reduced.transpose());
        correction_ = product(product(E, response), pseudo_inverse(product(reduced, response), kRedundant));
    }

    [[nodiscard]] VectorXd step(const VectorXd& violation) const { return -correction_ * violation; }
    [[nodiscard]] const MatrixXd& jacobian() const { return rows_.jacobian; }

 private:
    const Model& model_;
    const Parameters& parameters_;
    Kinematics kinematics_;
    ConstraintRows rows_;
    RigidBodyScratch bodies_;
    MatrixXd mass_, correction_;
};

}  // namespace

ProjectedState project_onto_constraints(const Model& model, const Parameters& parameters, const State& state) {
    ProjectedState out{.state = state};
    if (model.constraints().empty()) return out;
    Projection projection(model, parameters);
    VectorXd c, trial_c, trial;
    double residual = projection.residual(state.q, c);
    out.residual_before = residual;
    Eigen::Index worst = 0;
    c.cwiseAbs().maxCoeff(&worst);
    for (const ModelConstraint& constraint : model.constraints()) {
        if (worst >= constraint.row) out.worst = constraint.name;
    }
    for (int iteration = 0; iteration < kIterations && residual > kArrived; ++iteration) {
        projection.linearize(out.state.q);
        const VectorXd step = projection.step(c);
        bool better = false;
        for (int halving = 0; halving < kHalvings && !better; ++halving) {
            retract(model, out.state.q, std::ldexp(1.0, -halving) * step, trial);
            const double found = projection.residual(trial, trial_c);
            better = trial_c.squaredNorm() < c.squaredNorm();
            if (!better) continue;
            out.state.q = trial;
            c = trial_c;
            residual = found;
        }
        if (!better) break;
    }
    projection.linearize(out.state.q);
    out.state.v += projection.step(projection.jacobian() * state.v);
    out.residual_after = residual;
    VectorXd change;
    difference(model, state.q, out.state.q, change);
    out.moved = change.lpNorm<Eigen::Infinity>();
    return out;
}

void require_constraints(const Model& model, const Parameters& parameters, const State& state, const char* place) {
    if (model.constraints().empty()) return;
    Kinematics kinematics;
    forward_kinematics(model, parameters, state.q, kinematics);
    for (const ModelConstraint& c : model.constraints()) {
        const double broken = constraint_value(c, kinematics.poses, state.q).lpNorm<Eigen::Infinity>();
        if (broken <= kBroken) continue;
        fail(place, ": constraint '", c.name, "' is broken by ", broken, ", expected at most ", kBroken,
             " [m or rad]; project_onto_constraints finds a state near by that keeps it");
    }
}

}  // namespace farfield
