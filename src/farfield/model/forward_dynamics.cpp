// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/forward_dynamics.hpp"

#include "farfield/base/error.hpp"
#include "farfield/model/mass_matrix.hpp"

namespace farfield {
namespace {

const Wrenches kNoWrenches;

const Wrenches& wrenches_of(const ForwardDynamicsInput& input) {
    return input.wrenches ? *input.wrenches : kNoWrenches;
}

/// Factors E^T M E. @pre set_rigid_bodies.
void factor_mass(const Model& model, const Parameters& parameters, ForwardDynamicsScratch& s) {
    mass_matrix(model, parameters, s.bodies, s.mass);
    bool positive = false;
    if (model.reduction().identity) {
        positive = s.factor.compute(s.mass);
    } else {
        const Eigen::MatrixXd& E = model.reduction().E;
        s.product.noalias() = s.mass * E;
        s.reduced_mass.noalias() = E.transpose() * s.product;
        positive = s.factor.compute(s.reduced_mass);
    }
    if (!positive) {
        Eigen::Index least = 0;
        const double value = s.mass.diagonal().minCoeff(&least);
        const int joint = model.dofs()[static_cast<std::size_t>(least)].joint;
        fail("forward_dynamics: the mass matrix is not positive definite; its smallest diagonal entry is ", value,
             ", of joint '", model.joints()[static_cast<std::size_t>(joint)].name,
             "', expected mass or armature on every joint");
    }
}

/// x becomes X x.
void apply_inverse_mass(const Model& model, ForwardDynamicsScratch& s, Eigen::VectorXd& x) {
    if (model.reduction().identity) {
        s.factor.solve_in_place(x);
        return;
    }
    const Eigen::MatrixXd& E = model.reduction().E;
    s.reduced.noalias() = E.transpose() * x;
    s.factor.solve_in_place(s.reduced);
    x.noalias() = E * s.reduced;
}

/// The same for every column, each scaled.
void apply_inverse_mass(const Model& model, ForwardDynamicsScratch& s, double scale, Eigen::MatrixXd& columns) {
    for (Eigen::Index k = 0; k < columns.cols(); ++k) {
        s.column = scale * columns.col(k);
        apply_inverse_mass(model, s, s.column);
        columns.col(k) = s.column;
    }
}

}  // namespace

void forward_dynamics(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                      const ForwardDynamicsInput& input, ForwardDynamicsScratch& s, Eigen::VectorXd& a) {
    a.setZero(model.num_dofs());
    for (int k = 0; k < model.num_dofs(); ++k) {
        if (input.scripted && model.scripted(k)) a[k] = (*input.scripted)[k];
    }
    inverse_dynamics(model, parameters, kinematics, input.v, a, wrenches_of(input), s.bodies, s.residual);
    factor_mass(model, parameters, s);
    s.residual = input.tau - s.residual;
    apply_inverse_mass(model, s, s.residual);
    a += s.residual;
}

void forward_dynamics_derivatives(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                                  const ForwardDynamicsInput& input, ForwardDynamicsScratch& s,
                                  ForwardDynamicsDerivatives& out) {
    forward_dynamics(model, parameters, kinematics, input, s, out.a);
    inverse_dynamics_derivatives(model, parameters, kinematics, input.v, out.a, wrenches_of(input), s.bodies,
                                 s.residual_derivatives);
    out.q = s.residual_derivatives.q;
    out.v = s.residual_derivatives.v;
    out.tau.setIdentity(model.num_dofs(), model.num_dofs());
    apply_inverse_mass(model, s, -1.0, out.q);
    apply_inverse_mass(model, s, -1.0, out.v);
    apply_inverse_mass(model, s, 1.0, out.tau);
    out.wrenches.resize(model.num_dofs(), 6 * model.num_bodies());
    for (int body = 0; body < model.num_bodies(); ++body) {
        body_jacobian(model, kinematics, body, Eigen::Vector3d::Zero(), s.jacobian);
        out.wrenches.middleCols<6>(6 * body).noalias() = out.tau * s.jacobian.transpose();  // X is symmetric
    }
}

void forward_dynamics_vjp(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                          const ForwardDynamicsInput& input, const Eigen::VectorXd& a, const Eigen::VectorXd& a_bar,
                          ForwardDynamicsScratch& s, ForwardDynamicsGradient& out, Parameters& gradient) {
    out.tau = a_bar;
    apply_inverse_mass(model, s, out.tau);
    s.residual = -out.tau;
    InverseDynamicsGradient& bars = s.residual_gradient;
    inverse_dynamics_vjp(model, parameters, kinematics, input.v, a, wrenches_of(input), s.residual, s.bodies, bars,
                         gradient);
    out.q = bars.q;
    out.v = bars.v;
    out.wrenches = bars.wrenches;
    out.scripted.setZero(model.num_dofs());
    for (int k = 0; k < model.num_dofs(); ++k) {
        if (model.scripted(k)) out.scripted[k] = a_bar[k] + bars.a[k];
    }
}

}  // namespace farfield
