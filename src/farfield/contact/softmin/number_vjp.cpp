// SPDX-License-Identifier: Apache-2.0
/// @file  Derivatives of the law by its own numbers, backward through the formula of the mean plane.
///
/// With y the direction as a velocity of the querying body relative to the other at each query, Phi_f = F_f . y_f:
///     dPhi = sum s_f (dPhi_f - (Phi_f - Phi)/eps2 dphi_f) + sum s_f Phi_f (phi_f - <phi>)/eps2^2 deps2
///     dphi = sum of w_i ((phi_i - phi) dlog w_i - n_i . dp_i) + <n> . dp,   log w_i = -|p - p_i|^2/eps1, and dm likewise
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"
#include "farfield/contact/softmin/formula.hpp"
#include "farfield/contact/softmin/memory.hpp"

namespace farfield::contact::softmin {
namespace {

using Eigen::Vector3d;
using Number = Dual<double, 8>;  // phi, n, y (the point both are held at), eps3

/// A query in the frame of the surface, and what its force does along the direction.
struct Query {
    int side, slot;
    Vector3d p, n, slope;
    Eigen::Matrix3d turn;  ///< dn/dp
    double phi, along;     ///< phi_f, Phi_f
    double by_phi, by_ramp;
    Vector3d by_n, by_y;
};

/// Relative velocities (u, w) of a side in the frame of the surface, of twists or of a direction.
Vector6d relative(const Pose& surface, const Pose& query, const Vector6d& of_surface, const Vector6d& of_query) {
    const Vector3d r = query.position - surface.position, w = of_query.tail<3>();
    Vector6d out;
    out << surface.rotation.transpose() * (of_query.head<3>() - of_surface.head<3>() + r.cross(w)),
        surface.rotation.transpose() * (w - of_surface.tail<3>());
    return out;
}

void differentiate(const ForceNumbers& numbers, const Vector6d& velocity, const Vector6d& direction, double radius,
                   Query& q) {
    FormulaNumbers<Number> k(numbers);
    k.ramp.slope[7] = 1.0;
    const auto lift = [](double value, int slot) {
        Number x(value);
        x.slope[at(slot)] = 1.0;
        return x;
    };
    const Vector3d held = q.p - radius * q.n;
    Vector3<Number> n, y, v, along;
    for (int i = 0; i < 3; ++i) {
        n[i] = lift(q.n[i], 1 + i);
        y[i] = lift(held[i], 4 + i);
    }
    const Vector3<Number> u = velocity.head<3>().cast<Number>(), w = velocity.tail<3>().cast<Number>();
    const Vector3<Number> du = direction.head<3>().cast<Number>(), dw = direction.tail<3>().cast<Number>();
    v = u + cross(w, y);
    along = du + cross(dw, y);
    const Number power = dot(plane_force(k, lift(q.phi, 0), n, v), along);
    q.along = power.value;
    q.by_phi = power.slope[0];
    q.by_n = Vector3d::Map(&power.slope[1]);
    q.by_y = Vector3d::Map(&power.slope[4]);
    q.by_ramp = power.slope[7];
    q.by_n -= radius * q.by_y;  // y = p - radius n
}

/// From bars of phi and n of one query on to the cloud.
struct CloudBars {
    double temperature = 0.0;
    std::vector<Vector3d> points;  ///< per slot
};
void through_cloud(const Surface& surface, const Vector3d& p, double phi_bar, const Vector3d& n_bar, CloudBars& bars) {
    const PointTree& tree = surface.tree;
    const auto point = [&](int slot) {
        const LeafColumns& leaf = tree.leaves[at(slot / kLeafPoints)];
        const int k = slot % kLeafPoints;
        return std::pair(Vector3d(leaf.x[k], leaf.y[k], leaf.z[k]), Vector3d(leaf.nx[k], leaf.ny[k], leaf.nz[k]));
    };
    double nearest = std::numeric_limits<double>::infinity();
    for (int slot = 0; slot < tree.count; ++slot) nearest = std::min(nearest, (p - point(slot).first).squaredNorm());
    double total = 0.0;
    Vector3d mean = Vector3d::Zero();
    for (int slot = 0; slot < tree.count; ++slot) {
        const auto [x, n] = point(slot);
        const double e = std::exp((nearest - (p - x).squaredNorm()) / surface.temperature);
        total += e;
        mean += e * n;
    }
    mean /= total;
    const double length = std::sqrt(mean.squaredNorm() + surface.normal_smoothing * surface.normal_smoothing);
    const Vector3d unit = mean / length, m_bar = (n_bar - unit * unit.dot(n_bar)) / length;
    double centre = 0.0;  // of what the weights average
    for (int slot = 0; slot < tree.count; ++slot) {
        const auto [x, n] = point(slot);
        const double w = std::exp((nearest - (p - x).squaredNorm()) / surface.temperature) / total;
        centre += w * (phi_bar * n.dot(p - x) + m_bar.dot(n));
    }
    for (int slot = 0; slot < tree.count; ++slot) {
        const auto [x, n] = point(slot);
        const double squared = (p - x).squaredNorm();
        const double w = std::exp((nearest - squared) / surface.temperature) / total;
        const double log_bar = w * (phi_bar * n.dot(p - x) + m_bar.dot(n) - centre);
        const Vector3d pull = 2.0 * log_bar / surface.temperature * (p - x);
        bars.points[at(slot)] += pull - phi_bar * w * n;
        bars.temperature += log_bar * squared / (surface.temperature * surface.temperature);
    }
}

}  // namespace

void SoftminMemory::add_number_vjp(const Poses& poses, const Twists& twists, const Twists& direction,
                                   Eigen::VectorXd& gradient) {
    if (law_.options().forces != ForceForm::MeanPlane)
        fail("softmin: derivatives by clouds and temperatures, expected forces 'mean_plane'");
    for (std::size_t index = 0; index < law_.pairs().size(); ++index) {
        const SoftPair& pair = law_.pairs()[index];
        const ForceNumbers& numbers = numbers_[index];
        std::vector<Query> queries;
        std::vector<SideWork> fields(pair.sides.size());
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t s = 0; s < pair.sides.size(); ++s) {
            const Side& side = pair.sides[s];
            const std::size_t asks = at(side.first_asks ? pair.bodies.a : pair.bodies.b),
                              has = at(side.first_asks ? pair.bodies.b : pair.bodies.a);
            const Pose local = poses[has].inverse() * poses[asks];
            find_field(*side.queries, *side.surface, {local.rotation, local.position}, pair.cut, true, least,
                       fields[s]);
            const Vector6d velocity = relative(poses[has], poses[asks], twists[has], twists[asks]),
                           along = relative(poses[has], poses[asks], direction[has], direction[asks]);
            for (int g = 0; g < fields[s].count; ++g) {
                const QueryGroup& group = fields[s].groups[at(g)];
                for (int lane = 0; lane < group.count; ++lane) {
                    Query q{.side = static_cast<int>(s), .slot = kLeafPoints * group.leaf + lane};
                    q.p << group.p[0][lane], group.p[1][lane], group.p[2][lane];
                    q.n << group.n[0][lane], group.n[1][lane], group.n[2][lane];
                    q.slope << group.g[0][lane], group.g[1][lane], group.g[2][lane];
                    for (int i = 0; i < 9; ++i) q.turn(i / 3, i % 3) = group.turn[i][lane];
                    q.phi = group.phi[lane];
                    differentiate(numbers, velocity, along, side.queries->radius, q);
                    queries.push_back(q);
                }
            }
        }
        double total = 0.0, phi = 0.0, power = 0.0;
        for (const Query& q : queries) {
            const double weight = std::exp((least - q.phi) / numbers.sharing);
            total += weight;
            phi += weight * q.phi;
            power += weight * q.along;
        }
        phi /= total;
        power /= total;
        for (std::size_t s = 0; s < pair.sides.size(); ++s) {
            const Side& side = pair.sides[s];
            const int asks = side.first_asks ? pair.bodies.a : pair.bodies.b,
                      has = side.first_asks ? pair.bodies.b : pair.bodies.a;
            const Matrix3<double> turn = poses[at(asks)].rotation.transpose() * poses[at(has)].rotation;
            CloudBars bars;
            bars.points.assign(at(side.surface->tree.count), Vector3d::Zero());
            const bool cloud = side.surface->kind == SurfaceKind::Cloud;
            const bool asked_by_cloud =
                side.queries == &law_.shapes()[at(asks)].queries && law_.first_number(asks) >= 0;
            for (const Query& q : queries) {
                if (q.side != static_cast<int>(s)) continue;
                const double share = std::exp((least - q.phi) / numbers.sharing) / total;
                const double phi_bar = share * (q.by_phi - (q.along - power) / numbers.sharing);
                gradient[0] += share * q.along * (q.phi - phi) / (numbers.sharing * numbers.sharing);
                gradient[1] += share * q.by_ramp;
                if (cloud) through_cloud(*side.surface, q.p, phi_bar, share * q.by_n, bars);
                if (!asked_by_cloud) continue;
                const Vector3d p_bar = share * q.by_y + phi_bar * q.slope + q.turn.transpose() * (share * q.by_n);
                const int row = law_.first_number(asks) + 1 + 3 * side.queries->tree.order[at(q.slot)];
                gradient.segment<3>(row) += turn * p_bar;
            }
            if (!cloud) continue;
            const int first = law_.first_number(has);
            gradient[first] += bars.temperature;
            for (int slot = 0; slot < side.surface->tree.count; ++slot)
                gradient.segment<3>(first + 1 + 3 * side.surface->tree.order[at(slot)]) += bars.points[at(slot)];
        }
    }
}

}  // namespace farfield::contact::softmin
