// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/barrier_direction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/index.hpp"
#include "farfield/dynamics/pair_coordinates.hpp"
#include "farfield/math/dense.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;

constexpr double kNotable = 0.1;        // t up to which a parabola will do
constexpr double kFlat = 1e-5;          // of the largest eigenvalue: where a pair has no stiffness
constexpr double kBarrierToWall = 0.9;  // of the way to t = 1
constexpr int kBarrierIterations = 12, kBarrierHalvings = 20;
constexpr double kBarrierArmijo = 1e-4;
constexpr double kBarrierFallLeft = 1e-6;  // fall that is left, of what Newton's step promises

/// 2 G.N^+ G: of all barriers of this force the stiffest that nowhere is stiffer than N.
double barrier_energy(const contact::PairBlock::Vector12d& gradient, const contact::PairBlock::Matrix12d& hessian) {
    const PairCoordinates coordinates(hessian);
    const PairCoordinates::Vector9d g = coordinates.gradient(gradient);
    const auto [values, vectors] = symmetric_eigen<9>(coordinates.hessian(hessian));
    double sum = 0.0;
    for (int k = 8; k >= 0 && values[k] > kFlat * values[8]; --k) {  // ascending
        const double part = vectors.col(k).dot(g);
        sum += part * part / values[k];
    }
    return 2.0 * sum;
}

}  // namespace

double BarrierDirection::Barrier::closing(const std::vector<Vector6d>& twists) const {
    return (gradient.head<6>().dot(twists[at(a)]) + gradient.tail<6>().dot(twists[at(b)])) / energy;
}

void BarrierDirection::choose(const contact::ContactLinearization& contact) {
    barriers_.clear();
    for (const contact::PairBlock& pair : contact.blocks) {
        const contact::PairBlock::Vector12d gradient = pair.normal_gradient();
        const double floor = gradient.head<3>().norm() * pair.gap;  // of a barrier over the distance alone
        const Vector6d &a = twists_[at(pair.a)], &b = twists_[at(pair.b)];
        const double along = gradient.head<6>().dot(a) + gradient.tail<6>().dot(b);
        if (!(std::abs(along) > kNotable * floor)) continue;
        const double energy = std::max(barrier_energy(gradient, pair.normal_hessian()), floor);
        if (std::abs(along) > kNotable * energy) barriers_.push_back({pair.a, pair.b, gradient, energy, along});
    }
    if (barriers_.size() > kMost) {
        std::stable_sort(barriers_.begin(), barriers_.end(), [](const Barrier& x, const Barrier& y) {
            return std::abs(x.along) * y.energy > std::abs(y.along) * x.energy;
        });
        barriers_.resize(kMost);
    }
}

void BarrierDirection::couple(const Model& model, const Kinematics& kinematics, StepLinearization& system) {
    const std::size_t count = barriers_.size(), known = static_cast<std::size_t>(energies_.size());
    const auto size = static_cast<Eigen::Index>(count);
    energies_.conservativeResize(size);
    along_.conservativeResize(size);
    coupling_.conservativeResize(size, size);
    if (responses_.size() < count) responses_.resize(count);
    for (std::size_t j = known; j < count; ++j) {
        const Barrier& barrier = barriers_[j];
        wrenches_.assign(twists_.size(), Vector6d::Zero());
        wrenches_[at(barrier.a)] = barrier.gradient.head<6>();
        wrenches_[at(barrier.b)] = barrier.gradient.tail<6>();
        VectorXd& response = responses_[j];
        response.setZero(model.num_dofs());
        add_pull_back(model, kinematics, wrenches_, subtree_, response);
        side_ = response;
        system.solve(side_);
        response = side_.col(0);
        body_twists(model, kinematics, response, twists_);
        const auto column = static_cast<Eigen::Index>(j);
        for (std::size_t i = 0; i < count; ++i) {
            const Barrier& other = barriers_[i];
            const auto row = static_cast<Eigen::Index>(i);
            coupling_(row, column) =
                other.gradient.head<6>().dot(twists_[at(other.a)]) + other.gradient.tail<6>().dot(twists_[at(other.b)]);
            if (i < known) coupling_(column, row) = coupling_(row, column);
        }
        energies_[column] = barrier.energy;
        along_[column] = barrier.along;
    }
}

double BarrierDirection::value(double slope, const Point& x) const {
    double sum =
        (1.0 - 0.5 * x.alpha) * x.alpha * slope + (1.0 - x.alpha) * along_.dot(x.mu) + 0.5 * x.mu.dot(coupling_ * x.mu);
    for (Eigen::Index i = 0; i < x.t.size(); ++i) {
        if (!(x.t[i] < 1.0)) return std::numeric_limits<double>::infinity();
        sum += barriers_[static_cast<std::size_t>(i)].excess(x.t[i]);
    }
    return sum;
}

double BarrierDirection::direction(double slope, const Point& from, Point& way) const {
    Vector slopes(from.t.size()), curvature(from.t.size());
    for (Eigen::Index i = 0; i < from.t.size(); ++i) {
        const Barrier& barrier = barriers_[static_cast<std::size_t>(i)];
        slopes[i] = barrier.slope(from.t[i]);
        curvature[i] = barrier.curvature(from.t[i]);
    }
    // H^-1 gradient = -rest D_0 + W nu, and Woodbury's formula adds the curvature of the barriers to H.
    const double rest = 1.0 - from.alpha;
    const Vector nu = slopes - from.mu;
    Matrix system = curvature.asDiagonal() * coupling_;
    system.diagonal().array() += 1.0;
    const Vector seen = curvature.cwiseProduct(coupling_ * nu - rest * along_);
    way.alpha = rest;
    way.mu = nu - system.partialPivLu().solve(seen);
    const Vector pressed = rest * along_ - coupling_ * way.mu;
    way.t = pressed.cwiseQuotient(energies_);
    return rest * rest * slope + rest * along_.dot(way.mu) + nu.dot(pressed);
}

BarrierDirection::Point BarrierDirection::minimise(double slope) const {
    Point x{0.0, Vector::Zero(along_.size()), Vector::Zero(along_.size())}, way, trial;
    double best = 0.0;
    for (int iteration = 0; iteration < kBarrierIterations; ++iteration) {
        const double fall = direction(slope, x, way);
        double beta = 1.0;
        for (Eigen::Index i = 0; i < x.t.size(); ++i) {
            if (way.t[i] > 0.0) beta = std::min(beta, kBarrierToWall * (1.0 - x.t[i]) / way.t[i]);
        }
        bool found = false;
        for (int halving = 0; halving < kBarrierHalvings && !found; ++halving, beta *= 0.5) {
            trial = {x.alpha + beta * way.alpha, x.mu + beta * way.mu, x.t + beta * way.t};
            const double there = value(slope, trial);
            found = there <= best + kBarrierArmijo * beta * fall;
            if (found) best = there;
        }
        if (!found) break;
        x = trial;
        if (fall >= kBarrierFallLeft * slope) break;
    }
    return x;
}

double BarrierDirection::bend(const Model& model, const Kinematics& kinematics, StepLinearization& system, double slope,
                              VectorXd& step) {
    newton_step_ = step;
    newton_slope_ = slope;
    energies_.resize(0);  // nothing is coupled
    body_twists(model, kinematics, step, twists_);
    choose(system.contact);
    if (barriers_.empty()) return slope;
    couple(model, kinematics, system);
    return combine(step);
}

double BarrierDirection::add_walls(const Model& model, const Kinematics& kinematics, StepLinearization& system,
                                   const std::vector<Barrier>& walls, VectorXd& step) {
    body_twists(model, kinematics, newton_step_, twists_);
    for (const Barrier& wall : walls) {
        if (barriers_.size() == kMost + kWalls) break;
        barriers_.push_back(wall);
        barriers_.back().along = wall.energy * wall.closing(twists_);
        barriers_.back().wall = true;
    }
    couple(model, kinematics, system);
    return combine(step);
}

double BarrierDirection::combine(VectorXd& step) const {
    step = newton_step_;
    const Point found = minimise(newton_slope_);
    const double bent = found.alpha * newton_slope_ + along_.dot(found.mu);
    if (!(bent < 0.0)) return newton_slope_;
    step *= found.alpha;
    for (std::size_t i = 0; i < barriers_.size(); ++i) step -= found.mu[static_cast<Eigen::Index>(i)] * responses_[i];
    return bent;
}

}  // namespace farfield
