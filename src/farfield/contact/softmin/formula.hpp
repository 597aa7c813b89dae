// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The soft-minimum law as one formula over any kind of number: every point against every plane, nothing left out.
///
/// The oracle of the fast evaluation in field_lanes.hpp, and what forces of single planes, the printed forms and second derivatives are
/// taken from.
#include <Eigen/Dense>
#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

#include "farfield/contact/softmin/softmin.hpp"
#include "farfield/math/dual.hpp"

namespace farfield::contact::softmin {

inline double plain(const std::complex<double>& x) { return x.real(); }
using farfield::plain;

template <class S>
using Vector3 = Eigen::Matrix<S, 3, 1>;
template <class S>
using Matrix3 = Eigen::Matrix<S, 3, 3>;

template <class S>
S dot(const Vector3<S>& a, const Vector3<S>& b) {  // without conjugation
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <class S>
Vector3<S> cross(const Vector3<S>& a, const Vector3<S>& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Of a body, in the world.
template <class S>
struct MovingBody {
    Matrix3<S> rotation;
    Vector3<S> position, velocity, spin;

    [[nodiscard]] Vector3<S> velocity_at(const Vector3<S>& x) const {
        return velocity + cross(spin, Vector3<S>(x - position));
    }
};

/// ForceNumbers and the temperature of a cloud as numbers to differentiate by.
template <class S>
struct FormulaNumbers {
    S stiffness, friction, sharing, ramp;
    double damping_speed, slip_speed;
    bool printed_damping;

    explicit FormulaNumbers(const ForceNumbers& n)
        : stiffness(n.stiffness),
          friction(n.friction),
          sharing(n.sharing),
          ramp(n.ramp),
          damping_speed(n.damping_speed),
          slip_speed(n.slip_speed),
          printed_damping(n.printed_damping) {}
};

template <class S>
S softplus(const S& x) {
    using std::exp;
    using std::log1p;
    if (plain(x) > 0.0) return x + softplus(S(-x));
    if constexpr (std::is_same_v<S, std::complex<double>>)
        return std::log(1.0 + exp(x));
    else
        return log1p(exp(x));
}

template <class S>
S damping(const S& x, bool printed) {
    if (plain(x) <= 0.0) return S(1.0) - x;
    if (plain(x) >= 2.0) return S(0.0);
    const S u = S(1.0) - S(0.5) * x;
    return printed ? u * u : u * u * u * (S(1.0) + S(0.5) * x);
}

/// Force on a point at `phi` above a plane of normal n, which it moves past with v. [SCM2025, Eqs. (14)-(20)]
template <class S>
Vector3<S> plane_force(const FormulaNumbers<S>& k, const S& phi, const Vector3<S>& n, const Vector3<S>& v) {
    using std::sqrt;
    const S along = dot(n, v);
    const Vector3<S> slip = v - along * n;
    const S normal =
        k.stiffness * k.ramp * softplus(S(-phi / k.ramp)) * damping(S(along / S(k.damping_speed)), k.printed_damping);
    const S size = sqrt(S(dot(slip, slip) + S(k.slip_speed * k.slip_speed)));
    return normal * n - (normal * k.friction / size) * slip;
}

/// What one query feels: soft distance, force on its body at `point`, and the opposite one on the other, at `point` or spread out.
template <class S>
struct QueryForce {
    S phi;
    Vector3<S> force, torque_asks, torque_has;  ///< about the world's origin
};

/// Normal and distance of exact surfaces, in their own frame.
template <class S>
std::pair<S, Vector3<S>> exact_distance(const Surface& surface, const Vector3<S>& x) {
    using std::sqrt;
    const auto rounded = [](const Vector3<S>& d, double radius) {
        const S length = sqrt(S(dot(d, d)));
        return std::pair<S, Vector3<S>>(length - S(radius), d / length);
    };
    if (surface.kind == SurfaceKind::HalfSpace) return {x[2], Vector3<S>(S(0.0), S(0.0), S(1.0))};
    if (surface.kind == SurfaceKind::Sphere) return rounded(x, surface.radius);
    if (surface.kind == SurfaceKind::Capsule) {
        const double h = surface.half[2], z = plain(x[2]);
        return rounded({x[0], x[1], z > h ? x[2] - S(h) : z < -h ? x[2] + S(h) : S(0.0)}, surface.radius);
    }
    Vector3<S> over, out;
    int most = 0;
    bool inside = true;
    for (int i = 0; i < 3; ++i) {
        const S sign(plain(x[i]) < 0.0 ? -1.0 : 1.0);
        over[i] = sign * x[i] - S(surface.half[i]);
        out[i] = plain(over[i]) > 0.0 ? S(sign * over[i]) : S(0.0);
        inside = inside && plain(over[i]) <= 0.0;
        if (plain(over[i]) > plain(over[most])) most = i;
    }
    if (!inside) return rounded(out, 0.0);
    Vector3<S> n(S(0.0), S(0.0), S(0.0));
    n[most] = S(plain(x[most]) < 0.0 ? -1.0 : 1.0);
    return {over[most], n};
}

template <class S>
QueryForce<S> query_force(const Surface& surface, ForceForm form, const FormulaNumbers<S>& numbers,
                          const MovingBody<S>& asks, const MovingBody<S>& has, const Vector3<S>& x, double radius) {
    using std::exp;
    using std::sqrt;
    QueryForce<S> out;
    const auto apply_at = [&](const Vector3<S>& y, const Vector3<S>& force) {
        out.force = force;
        out.torque_asks = cross(y, force);
        out.torque_has = -out.torque_asks;
    };
    const Vector3<S> p = has.rotation.transpose() * (x - has.position);
    if (surface.kind != SurfaceKind::Cloud) {
        const Vector3<S> local =
            surface.rotation.transpose().template cast<S>() * (p - surface.centre.template cast<S>());
        const auto [phi, n] = exact_distance(surface, local);
        const Vector3<S> normal = has.rotation * (surface.rotation.template cast<S>() * n), y = x - S(radius) * normal;
        out.phi = phi - S(radius);
        apply_at(y, plane_force(numbers, out.phi, normal, Vector3<S>(asks.velocity_at(y) - has.velocity_at(y))));
        return out;
    }
    std::vector<S> weight;
    std::vector<Vector3<S>> points, normals;
    double nearest = std::numeric_limits<double>::infinity();
    const PointTree& tree = surface.tree;
    for (int slot = 0; slot < tree.count; ++slot) {
        const LeafColumns& leaf = tree.leaves[static_cast<std::size_t>(slot / kLeafPoints)];
        const int k = slot % kLeafPoints;
        points.emplace_back(S(leaf.x[k]), S(leaf.y[k]), S(leaf.z[k]));
        normals.emplace_back(S(leaf.nx[k]), S(leaf.ny[k]), S(leaf.nz[k]));
        const Vector3<S> q = points.back() - p;
        weight.push_back(dot(q, q));
        nearest = std::min(nearest, plain(weight.back()));
    }
    S total(0.0);
    for (S& w : weight) {
        w = exp(S((S(nearest) - w) / S(surface.temperature)));
        total += w;
    }
    S phi(0.0);
    Vector3<S> mean(S(0.0), S(0.0), S(0.0));
    for (std::size_t i = 0; i < weight.size(); ++i) {
        weight[i] = weight[i] / total;
        phi += weight[i] * dot(normals[i], Vector3<S>(p - points[i]));
        mean += weight[i] * normals[i];
    }
    out.phi = phi - S(radius);
    if (form == ForceForm::MeanPlane) {
        const S length = sqrt(S(dot(mean, mean) + S(surface.normal_smoothing * surface.normal_smoothing)));
        const Vector3<S> n = has.rotation * (mean / length), y = x - S(radius) * n;
        apply_at(y, plane_force(numbers, out.phi, n, Vector3<S>(asks.velocity_at(y) - has.velocity_at(y))));
        return out;
    }
    out.force = out.torque_asks = out.torque_has = Vector3<S>(S(0.0), S(0.0), S(0.0));
    for (std::size_t i = 0; i < weight.size(); ++i) {
        const Vector3<S> n = has.rotation * normals[i], centre = has.position + has.rotation * points[i];
        const S height = dot(n, Vector3<S>(x - centre)) - S(radius);
        const bool paper = form == ForceForm::Paper;
        const Vector3<S> held = paper ? centre : x;
        const Vector3<S> force =
            (paper ? S(-1.0) : S(1.0)) * weight[i] *
            plane_force(numbers, height, n, Vector3<S>(asks.velocity_at(x) - has.velocity_at(held)));
        out.force += force;
        out.torque_asks += cross(x, force);
        out.torque_has -= cross(held, force);
    }
    return out;
}

/// Wrenches on both bodies of a pair, each at its own origin, and the soft separation.
template <class S>
struct PairForce {
    Eigen::Matrix<S, 12, 1> wrench;
    S soft;
};
template <class S>
PairForce<S> pair_force(const SoftPair& pair, ForceForm form, const FormulaNumbers<S>& numbers, const MovingBody<S>& a,
                        const MovingBody<S>& b) {
    using std::exp;
    std::vector<QueryForce<S>> all;
    std::vector<bool> first;
    double least = std::numeric_limits<double>::infinity();
    for (const Side& side : pair.sides) {
        const MovingBody<S>&asks = side.first_asks ? a : b, &has = side.first_asks ? b : a;
        for (int slot = 0; slot < side.queries->tree.count; ++slot) {
            const LeafColumns& leaf = side.queries->tree.leaves[static_cast<std::size_t>(slot / kLeafPoints)];
            const int k = slot % kLeafPoints;
            const Vector3<S> x = asks.position + asks.rotation * Vector3<S>(S(leaf.x[k]), S(leaf.y[k]), S(leaf.z[k]));
            all.push_back(query_force(*side.surface, form, numbers, asks, has, x, side.queries->radius));
            first.push_back(side.first_asks);
            least = std::min(least, plain(all.back().phi));
        }
    }
    Vector3<S> force(S(0.0), S(0.0), S(0.0)), torque_a = force, torque_b = force;  // on a; about the world's origin
    S total(0.0), soft(0.0);
    for (std::size_t f = 0; f < all.size(); ++f) {
        const S weight = exp(S((S(least) - all[f].phi) / numbers.sharing));
        total += weight;
        soft += weight * all[f].phi;
        force += (first[f] ? weight : S(-weight)) * all[f].force;
        torque_a += weight * (first[f] ? all[f].torque_asks : all[f].torque_has);
        torque_b += weight * (first[f] ? all[f].torque_has : all[f].torque_asks);
    }
    force = (force / total).eval();
    PairForce<S> out;
    out.wrench << force, torque_a / total - cross(a.position, force), -force,
        torque_b / total + cross(b.position, force);
    out.soft = soft / total;
    return out;
}

}  // namespace farfield::contact::softmin
