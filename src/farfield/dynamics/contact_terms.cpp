// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/contact_terms.hpp"

#include <algorithm>
#include <array>
#include <numbers>

#include "farfield/dynamics/pair_coordinates.hpp"
#include "farfield/math/semidefinite_lanes.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

void set_paths(const Model& model, const Kinematics& kinematics, ContactScratch& s) {
    const auto n = static_cast<std::size_t>(model.num_bodies());
    if (s.path.size() != n) {
        s.path.assign(n, {});
        s.jacobian.resize(n);
        for (std::size_t i = 1; i < n; ++i) {
            for (int k = model.bodies()[i].last_dof; k >= 0; k = model.dofs()[static_cast<std::size_t>(k)].parent)
                s.path[i].push_back(k);
            std::reverse(s.path[i].begin(), s.path[i].end());
            s.jacobian[i].resize(6, static_cast<Eigen::Index>(s.path[i].size()));
        }
    }
    for (std::size_t i = 1; i < n; ++i) {
        const Vector3d& p = kinematics.poses[i].position;
        for (std::size_t c = 0; c < s.path[i].size(); ++c) {
            const auto dof = static_cast<std::size_t>(s.path[i][c]);
            const Vector3d& axis = kinematics.axis[dof];
            auto column = s.jacobian[i].col(static_cast<Eigen::Index>(c));
            if (model.dofs()[dof].rotates) {
                column << axis.cross(p - kinematics.anchor[dof]), axis;
            } else {
                column << axis, Vector3d::Zero();
            }
        }
    }
}

/// Adds J_a^T B J_b, each unordered pair of degrees of freedom into the lower triangle once per occurrence.
template <class Matrix>
void add_product(const ContactScratch& s, std::size_t a, std::size_t b, const Matrix& B, BlockMatrix::Block hessian) {
    for (std::size_t c = 0; c < s.path[b].size(); ++c) {
        const Vector6d column = B * s.jacobian[b].col(static_cast<Eigen::Index>(c));
        const int k = s.path[b][c];
        for (std::size_t r = 0; r < s.path[a].size(); ++r) {
            const int j = s.path[a][r];
            const double value = s.jacobian[a].col(static_cast<Eigen::Index>(r)).dot(column);
            if (a == b) {
                if (j >= k) hessian(j, k) += value;
            } else if (j == k) {
                hessian(j, j) += 2.0 * value;  // the block and its transpose both land here
            } else {
                hessian(std::max(j, k), std::min(j, k)) += value;
            }
        }
    }
}

void add_geometric(const Model& model, const ContactScratch& s, std::size_t body, const Vector6d& wrench,
                   BlockMatrix::Block hessian) {
    const Vector3d force = wrench.head<3>(), torque = wrench.tail<3>();
    const auto& path = s.path[body];
    for (std::size_t c = 0; c < path.size(); ++c) {
        const auto inner = s.jacobian[body].col(static_cast<Eigen::Index>(c));
        const Vector3d v_k = inner.head<3>(), w_k = inner.tail<3>();
        const int ball = model.dofs()[static_cast<std::size_t>(path[c])].ball;
        for (std::size_t r = 0; r <= c; ++r) {
            const auto outer = s.jacobian[body].col(static_cast<Eigen::Index>(r));
            const Vector3d v_j = outer.head<3>(), w_j = outer.tail<3>();
            const bool same_ball = ball >= 0 && model.dofs()[static_cast<std::size_t>(path[r])].ball == ball;
            const double value = same_ball ? 0.5 * force.dot(w_j.cross(v_k) + w_k.cross(v_j))
                                           : force.dot(w_j.cross(v_k)) + 0.5 * torque.dot(w_j.cross(w_k));
            hessian(path[c], path[r]) += value;
        }
    }
}

/// Into the coordinates in which eigenvalues are compared. Returns their arm.
double put_block(const contact::PairBlock& pair, SymmetricChunk& chunk, std::size_t lane) {
    const PairCoordinates coordinates(pair.hessian);
    const PairCoordinates::Matrix9d m = coordinates.hessian(pair.hessian);
    for (int j = 0; j < 9; ++j) {
        for (int i = j; i < 9; ++i) chunk.entry[i][j][lane] = m(i, j);
    }
    return coordinates.arm;
}

/// And back. Rows of v_b are those of v_a with the sign changed.
void take_block(const SymmetricChunk& chunk, std::size_t lane, double arm, contact::PairBlock& pair) {
    auto& h = pair.hessian;
    const double mixed = arm / std::numbers::sqrt2;
    for (int j = 0; j < 9; ++j) {
        for (int i = j; i < 9; ++i) {
            const double entry = chunk.entry[i][j][lane] * (i < 3 ? 0.5 : j < 3 ? mixed : arm * arm);
            const int row = i < 6 ? i : i + 3, col = j < 6 ? j : j + 3;  // of the block; its rows 6 to 8 are v_b
            h(row, col) = h(col, row) = entry;
            if (j >= 3) continue;
            h(row, col + 6) = h(col + 6, row) = -entry;
            if (i < 3) {
                h(row + 6, col) = h(col, row + 6) = -entry;
                h(row + 6, col + 6) = h(col + 6, row + 6) = entry;
            }
        }
    }
}

}  // namespace

void add_contact_derivatives(const Model& model, const Kinematics& kinematics,
                             const contact::ContactLinearization& contact, ContactScratch& s, Eigen::VectorXd& gradient,
                             BlockMatrix& hessian) {
    set_paths(model, kinematics, s);
    add_pull_back(model, kinematics, contact.wrench, s.subtree, gradient);
    const auto block = [&](std::size_t a, std::size_t b) {
        return hessian.block(model.bodies()[a].root, model.bodies()[b].root);
    };
    s.diagonal.assign(static_cast<std::size_t>(model.num_bodies()), Matrix6d::Zero());
    for (const contact::PairBlock& pair : contact.blocks) {
        const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
        s.diagonal[a] += pair.hessian.topLeftCorner<6, 6>();
        s.diagonal[b] += pair.hessian.bottomRightCorner<6, 6>();
        if (!s.path[a].empty() && !s.path[b].empty())
            add_product(s, a, b, pair.hessian.topRightCorner<6, 6>(), block(a, b));
    }
    for (std::size_t i = 1; i < s.path.size(); ++i) {
        if (s.path[i].empty()) continue;
        add_product(s, i, i, s.diagonal[i], block(i, i));
        add_geometric(model, s, i, contact.wrench[i], block(i, i));
    }
}

void project_blocks(contact::ContactLinearization& contact) {
    SymmetricChunk chunk{};
    std::array<double, kSemidefiniteLanes> arms{};
    for (std::size_t first = 0; first < contact.blocks.size(); first += kSemidefiniteLanes) {
        const std::size_t count = std::min(kSemidefiniteLanes, contact.blocks.size() - first);
        for (std::size_t lane = 0; lane < count; ++lane)
            arms[lane] = put_block(contact.blocks[first + lane], chunk, lane);
        make_semidefinite(chunk, count);
        for (std::size_t lane = 0; lane < count; ++lane)
            take_block(chunk, lane, arms[lane], contact.blocks[first + lane]);
    }
}

void apply_blocks(const contact::ContactLinearization& contact, const std::vector<Vector6d>& twists,
                  std::vector<Vector6d>& out) {
    out.assign(twists.size(), Vector6d::Zero());
    for (const contact::PairBlock& pair : contact.blocks) {
        const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
        Eigen::Matrix<double, 12, 1> xi;
        xi << twists[a], twists[b];
        const Eigen::Matrix<double, 12, 1> y = pair.hessian * xi;
        out[a] += y.head<6>();
        out[b] += y.tail<6>();
    }
}

}  // namespace farfield
