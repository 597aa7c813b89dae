// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/plane_friction/plane_friction.hpp"

#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/math/dense.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::contact {

namespace {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Basis = Eigen::Matrix<double, 3, 2>;

constexpr int kMaxIterations = 60;
constexpr double kArmijo = 1e-4;
constexpr double kTolerance = 1e-14;  // of the smallest possible energy; the step already computed is taken

/// The minimisation over q = (u, omega * arm): arm, the loads' radius of gyration, gives all three the unit of a velocity.
class PlaneProblem {
 public:
    PlaneProblem(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b, const SlipModel& model)
        : contact_(contact), a_(a), b_(b), model_(model), basis(tangents(contact.normal)) {
        for (const FrictionPoint& point : contact.points) {
            total += point.load;
            center += point.load * point.position;
        }
        center /= total;
        double gyration = 0.0;
        for (const FrictionPoint& point : contact.points) {
            gyration += point.load * (basis.transpose() * (point.position - center)).squaredNorm();
        }
        if (gyration > 0.0) {
            arm = std::sqrt(gyration / total);
        } else if (model.spin > 0.0) {  // the spin does nothing: any arm does that makes units agree
            arm = std::sqrt(model.spin * std::sqrt(model.smoothing));
        }
    }

    /// B^T (n x (y - c)) / arm
    [[nodiscard]] Vector2d spin_direction(std::size_t m) const {
        return basis.transpose() * contact_.normal.cross(contact_.points[m].position - center) / arm;
    }
    [[nodiscard]] const BodyMotion& body(std::size_t m) const { return m < contact_.split ? a_ : b_; }
    [[nodiscard]] Vector2d velocity(std::size_t m) const {
        return basis.transpose() * body(m).displacement(contact_.points[m].position) / model_.dt;
    }
    [[nodiscard]] Vector2d slip(std::size_t m, const Vector3d& q) const {
        return velocity(m) - q.head<2>() - q[2] * spin_direction(m);
    }
    [[nodiscard]] double spin_stiffness() const { return model_.spin * model_.dt * total / (arm * arm); }

    [[nodiscard]] double energy(const Vector3d& q) const {
        double value = 0.0;
        for (std::size_t m = 0; m < contact_.points.size(); ++m) {
            value += contact_.points[m].load * std::sqrt(slip(m, q).squaredNorm() + model_.smoothing);
        }
        return value * model_.dt + 0.5 * spin_stiffness() * q[2] * q[2];
    }

    /// Weighted least squares: exact when both bodies translate.
    [[nodiscard]] Vector3d start() const {
        Matrix3d normal_matrix = Matrix3d::Zero();
        Vector3d right = Vector3d::Zero();
        for (std::size_t m = 0; m < contact_.points.size(); ++m) {
            const auto row = row_of(m);
            normal_matrix += contact_.points[m].load * row.transpose() * row;
            right += contact_.points[m].load * row.transpose() * velocity(m);
        }
        normal_matrix.diagonal().array() += 1e-12 * normal_matrix.trace();
        return solve_ldlt(normal_matrix, right);
    }

    /// Gradient and Hessian by q of the energy.
    void derivatives(const Vector3d& q, Vector3d& gradient, Matrix3d& hessian) const {
        gradient.setZero();
        hessian.setZero();
        for (std::size_t m = 0; m < contact_.points.size(); ++m) {
            const auto row = row_of(m);
            const Vector2d w = slip(m, q);
            const double psi = std::sqrt(w.squaredNorm() + model_.smoothing),
                         load = contact_.points[m].load * model_.dt;
            gradient -= load / psi * row.transpose() * w;
            hessian += row.transpose() * curvature(w, psi, load) * row;
        }
        gradient[2] += spin_stiffness() * q[2];
        hessian(2, 2) += spin_stiffness();
    }

    /// load * d2psi/dw2 = load (eps 1 + p p^T) / psi^3, p = (-w_y, w_x): no cancellation, however fast the slip
    [[nodiscard]] Matrix2d curvature(const Vector2d& w, double psi, double load) const {
        const Vector2d across(-w.y(), w.x());
        return load / (psi * psi * psi) * (model_.smoothing * Matrix2d::Identity() + across * across.transpose());
    }

    [[nodiscard]] Eigen::Matrix<double, 2, 3> row_of(std::size_t m) const {
        Eigen::Matrix<double, 2, 3> row;
        row << Matrix2d::Identity(), spin_direction(m);
        return row;
    }

    [[nodiscard]] Vector3d minimise() const {
        Vector3d q = start(), gradient;
        Matrix3d hessian;
        double value = energy(q);
        const double smallest = model_.dt * total * std::sqrt(model_.smoothing);
        for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
            derivatives(q, gradient, hessian);
            hessian.diagonal().array() += 1e-12 * hessian.trace();  // only steers the iteration
            const Vector3d step = -solve_ldlt(hessian, gradient);
            const double decrement = -gradient.dot(step);
            if (decrement <= kTolerance * smallest) return q + step;
            double t = 1.0, next = energy(q + step);
            while (!(next <= value - kArmijo * t * decrement + 1e-15 * value) && t > 1e-12) {
                t *= 0.5;
                next = energy(q + t * step);
            }
            q += t * step;
            value = next;
        }
        return q;
    }

 private:
    const PlaneContact& contact_;
    const BodyMotion &a_, &b_;
    const SlipModel& model_;

 public:
    Basis basis;
    Vector3d center = Vector3d::Zero();
    double total = 0.0, arm = 1.0;
};

bool is_idle(const PlaneContact& contact) {
    double total = 0.0;
    for (const FrictionPoint& point : contact.points) total += point.load;
    return !(total > 0.0);
}

/// x - p_now crossed into a force: the row of dx = v + w x arm.
Vector6d wrench_of(const Vector3d& force, const Vector3d& arm) {
    Vector6d wrench;
    wrench << force, arm.cross(force);
    return wrench;
}

/// What the adjoint needs of one point: how the twists move it, its slip, psi, and the rows of its slip by q.
struct TwistedPoint {
    Vector3d displacement, delta;
    Vector2d w, rate;  // rate = B^T delta / dt
    double psi;
    Eigen::Matrix<double, 2, 3> row;

    TwistedPoint(const PlaneProblem& problem, const Vector3d& q, std::size_t m, const Vector3d& y,
                 const SlipModel& model, const Vector6d& twist) {
        const BodyMotion& body = problem.body(m);
        displacement = body.displacement(y);
        delta = twist.head<3>() + twist.tail<3>().cross(displacement - body.shift + (y - body.origin));
        row = problem.row_of(m);
        w = problem.basis.transpose() * displacement / model.dt - row * q;
        rate = problem.basis.transpose() * delta / model.dt;
        psi = std::sqrt(w.squaredNorm() + model.smoothing);
    }
};

/// phi = d/ds D(x + s delta). Its derivative by a parameter is d/ds of the explicit partial derivative of D, with q moving too.
FrictionAdjoint adjoint_at(const PlaneProblem& problem, const Vector3d& q, const PlaneContact& contact,
                           const SlipModel& model, const Vector6d& twist_a, const Vector6d& twist_b,
                           std::span<FrictionPoint> points) {
    FARFIELD_ASSERT(points.size() == contact.points.size());
    const Vector3d& n = contact.normal;
    const double omega = q[2] / problem.arm, dt = model.dt;
    const auto twisted = [&](std::size_t m) {
        return TwistedPoint(problem, q, m, contact.points[m].position, model, m < contact.split ? twist_a : twist_b);
    };
    Vector3d right = Vector3d::Zero();
    Matrix3d q_hessian = Matrix3d::Zero();
    q_hessian(2, 2) = problem.spin_stiffness();
    for (std::size_t m = 0; m < contact.points.size(); ++m) {
        const TwistedPoint at = twisted(m);
        const Eigen::Matrix<double, 3, 2> pressed =
            at.row.transpose() * problem.curvature(at.w, at.psi, contact.points[m].load * dt);
        q_hessian += pressed * at.row;
        right += pressed * at.rate;
    }
    const Vector3d dq = solve_ldlt(q_hessian, right);
    const double domega = dq[2] / problem.arm;
    FrictionAdjoint out;
    for (std::size_t m = 0; m < contact.points.size(); ++m) {
        const TwistedPoint at = twisted(m);
        const BodyMotion& body = problem.body(m);
        const Vector3d &y = contact.points[m].position, r = y - problem.center;
        const Vector2d dw = at.rate - at.row * dq;
        const double load = contact.points[m].load;
        const Vector3d force = load / at.psi * (problem.basis * at.w);  // dD/dx
        const Vector3d force_rate = problem.basis * (problem.curvature(at.w, at.psi, load) * dw);
        out.phi += force.dot(at.delta);
        points[m].load = dt * at.w.dot(dw) / at.psi + model.spin * dt * omega * domega;
        // through w: the spin's arm, and the normal in B and in n x r
        points[m].position = -dt * (domega * force + omega * force_rate).cross(n);
        out.normal -= n.dot(at.displacement) * force_rate + n.dot(at.delta) * force +
                      dt * r.cross(omega * force_rate + domega * force);
        // through x = T_now T_start^-1 y: x moves by turn (dy - v - w x (y - origin)), and so does delta
        const Vector3d spin = m < contact.split ? twist_a.tail<3>() : twist_b.tail<3>();
        const Vector3d back = body.turn.transpose() * (force_rate + force.cross(spin));
        points[m].position += back - force_rate;
        (m < contact.split ? out.previous_a : out.previous_b) -= wrench_of(back, y - body.origin);
    }
    return out;
}

}  // namespace

Basis tangents(const Vector3d& normal) {
    Eigen::Index smallest = 0;
    normal.cwiseAbs().minCoeff(&smallest);
    Basis basis;
    basis.col(0) = normal.cross(Vector3d::Unit(smallest)).normalized();
    basis.col(1) = normal.cross(basis.col(0));
    return basis;
}

double friction_energy(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b, const SlipModel& model) {
    if (is_idle(contact)) return 0.0;
    const PlaneProblem problem(contact, a, b, model);
    return problem.energy(problem.minimise());
}

void add_friction(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                  FrictionSum& sum, const SlipDuals& duals) {
    if (is_idle(contact)) return;
    const PlaneProblem problem(contact, a, b, model);
    const Vector3d q = problem.minimise();
    sum.energy += problem.energy(q);
    Matrix3d q_hessian = Matrix3d::Zero();
    q_hessian(2, 2) = problem.spin_stiffness();
    // D_xx = blkdiag(B K B^T / dt^2) - C H_qq^-1 C^T with C = -(B K / dt) [1, spin direction], then chained with dx = v + w x arm.
    Eigen::Matrix<double, 12, 3> mixed = Eigen::Matrix<double, 12, 3>::Zero();
    for (std::size_t m = 0; m < contact.points.size(); ++m) {
        const int first = m < contact.split ? 0 : 6;
        const Vector2d w = problem.slip(m, q);
        const double psi = std::sqrt(w.squaredNorm() + model.smoothing), load = contact.points[m].load;
        const Vector3d arm = problem.body(m).arm(contact.points[m].position), force = load / psi * (problem.basis * w);
        sum.gradient.segment<6>(first) += wrench_of(force, arm);
        Eigen::Matrix<double, 6, 2> lever;  // d(tangential position)/d(v, w), transposed
        lever << problem.basis, hat(arm) * problem.basis;
        const auto row = problem.row_of(m);
        const Matrix2d k = problem.curvature(w, psi, load * model.dt) + load * model.dt * duals.correction(m, w, psi);
        sum.hessian.block<6, 6>(first, first) += lever * (k / (model.dt * model.dt)) * lever.transpose();
        mixed.middleRows<6>(first) -= lever * (k / model.dt) * row;
        q_hessian += row.transpose() * k * row;
        sum.hessian.block<3, 3>(first + 3, first + 3) +=
            0.5 * (force * arm.transpose() + arm * force.transpose()) - force.dot(arm) * Matrix3d::Identity();
    }
    const Eigen::Matrix<double, 3, 12> right = mixed.transpose(), solved = solve_ldlt(q_hessian, right);
    sum.hessian -= mixed.lazyProduct(solved);
}

FrictionAdjoint friction_vjp(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b,
                             const SlipModel& model, const Vector6d& twist_a, const Vector6d& twist_b,
                             std::span<FrictionPoint> points) {
    for (FrictionPoint& point : points) point = {};
    if (is_idle(contact)) return {};
    const PlaneProblem problem(contact, a, b, model);
    return adjoint_at(problem, problem.minimise(), contact, model, twist_a, twist_b, points);
}

}  // namespace farfield::contact
