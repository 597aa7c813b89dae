// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/lagged_friction.hpp"

#include <algorithm>
#include <cmath>

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;
using Eigen::Vector4d;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

double side(int k) { return k < 3 ? 1.0 : -1.0; }

void add_force(const Vector3d& force, const Vector3d& arm, Vector6d& wrench) {
    wrench.head<3>() += force;
    wrench.tail<3>() += arm.cross(force);
}

/// z enters through the vertex, the normal and the origin of the half-space: z = n.(x - p) - offset.
void add_height(const HalfSpaceFrame& frame, const Vector3d& arm, double adjoint, Vector3d& normal,
                PreviousAdjoint& previous) {
    add_force(adjoint * frame.normal, arm - frame.origin_mesh, previous.a);
    previous.b.head<3>() -= adjoint * frame.normal;
    normal += adjoint * (arm - frame.origin_plane);
}

/// Loads and places of eight leaves; unused lanes of `from` repeat a leaf.
void lag_chunk(const PairChunk& from, const double (&scale)[kChunkPairs], FrictionForm form, PlaneChunk& to) {
    double length[kChunkPairs];
    for (std::size_t i = 0; i < kChunkPairs; ++i) {
        const double x = from.plane[0][i], y = from.plane[1][i], z = from.plane[2][i];
        length[i] = std::sqrt(x * x + y * y + z * z);
    }
    for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t i = 0; i < kChunkPairs; ++i) to.normal[c][i] = from.plane[c][i] / length[i];
    }
    const double projected = form == FrictionForm::Projected ? 1.0 : 0.0;
    for (std::size_t k = 0; k < 6; ++k) {
        double depth[kChunkPairs];
        const auto *x = &from.arms[3 * k], *x0 = &from.arms[0], *n = &from.plane[0];
        for (std::size_t i = 0; i < kChunkPairs; ++i) {
            const double height = n[0][i] * (x[0][i] - x0[0][i]) + n[1][i] * (x[1][i] - x0[1][i]) +
                                  n[2][i] * (x[2][i] - x0[2][i]) + n[3][i];  // sigma s
            to.load[k][i] = scale[i] * length[i] / (height * height);
            depth[i] = projected * height / length[i];
        }
        for (std::size_t c = 0; c < 3; ++c) {
            for (std::size_t i = 0; i < kChunkPairs; ++i)
                to.position[3 * k + c][i] = x[c][i] - depth[i] * to.normal[c][i];
        }
    }
}

}  // namespace

void lag_mesh_pair(const PairFrame& frame, const PairWork& work, FrictionForm form, LaggedMeshPair& lagged) {
    static_assert(kChunkPlanes == kChunkPairs);
    lagged.frame = frame;
    lagged.planes.resize(work.leaves.size());
    for (std::size_t c = 0; c < work.batch.num_chunks(); ++c) {
        const std::size_t first = c * kChunkPairs, used = std::min(kChunkPairs, work.leaves.size() - first);
        double scale[kChunkPairs] = {};
        for (std::size_t lane = 0; lane < used; ++lane)
            scale[lane] = work.leaves[first + lane].weight * work.leaves[first + lane].share;
        lag_chunk(work.batch.chunks()[c], scale, form, lagged.planes.chunks()[c]);
    }
    prepare_planes(lagged.planes);
}

void lag_half_space(const HalfSpaceFrame& frame, const HalfSpaceWork& work, const PotentialForm& potential,
                    FrictionForm form, LaggedHalfSpace& lagged) {
    lagged.frame = frame;
    lagged.points.clear();
    for (const HeightTerm& term : work.far) {
        if (!term.vertex) continue;
        const double slope = centred(term.height, potential.far_value).first;
        FrictionPoint point{term.arm, -term.weight * term.share * slope};
        if (form == FrictionForm::Projected) point.position -= term.height * frame.normal;
        lagged.points.push_back(point);
    }
}

void pull_back_contact(const PairWork& work, std::size_t leaf, const PairFrame& frame, FrictionForm form,
                       const FrictionAdjoint& adjoint, const std::array<FrictionPoint, 6>& points,
                       PreviousAdjoint& previous, double& weight) {
    const TrianglePair arms = work.batch.arms(leaf), x = arms.colwise() - pair_origin(arms);
    const Plane plane = local_plane(x, work.batch.plane(leaf));
    const Vector3d& n = plane.normal;
    const double length = n.norm(), d = plane.offset, scale = work.leaves[leaf].weight * work.leaves[leaf].share;
    const Vector3d unit = n / length;
    Vector3d unit_bar = adjoint.normal, n_bar = Vector3d::Zero();
    double d_bar = 0.0, length_bar = 0.0;
    TrianglePair x_bar = TrianglePair::Zero();
    Eigen::Matrix<double, 6, 1> s;
    for (int k = 0; k < 6; ++k) {
        s[k] = side(k) * (n.dot(x.col(k)) + d);
        const Vector3d& y_bar = points[at(k)].position;
        const double load_bar = points[at(k)].load, r2 = 1.0 / (s[k] * s[k]);
        x_bar.col(k) = y_bar;
        if (form == FrictionForm::Projected) {  // y = x - unit h, h = unit.x + d / N
            const double h_bar = -unit.dot(y_bar);
            x_bar.col(k) += h_bar * unit;
            unit_bar += h_bar * x.col(k) - side(k) * s[k] / length * y_bar;
            d_bar += h_bar / length;
            length_bar -= h_bar * d / (length * length);
        }
        weight += load_bar * scale * length * r2;
        length_bar += load_bar * scale * r2;
        const double height_bar = -2.0 * side(k) * load_bar * scale * length * r2 / s[k];  // by n.x + d
        n_bar += height_bar * x.col(k);
        d_bar += height_bar;
        x_bar.col(k) += height_bar * n;
    }
    n_bar += (unit_bar - unit * unit.dot(unit_bar)) / length + length_bar * unit;
    // the plane is the minimiser of L: dp = -Hpp^-1 L_px dx
    const Vector4d p_bar(n_bar.x(), n_bar.y(), n_bar.z(), d_bar);
    const Vector4d r = plane_derivatives(x, plane).hessian.ldlt().solve(p_bar);
    for (int k = 0; k < 6; ++k) {
        const double r1 = 1.0 / s[k], r2 = r1 * r1;
        x_bar.col(k) += side(k) * r2 * r.head<3>() - 2.0 * r2 * r1 * (x.col(k).dot(r.head<3>()) + r[3]) * n;
        const bool on_a = k < 3;
        add_force(x_bar.col(k), arms.col(k) - (on_a ? frame.origin_a : frame.origin_b), on_a ? previous.a : previous.b);
    }
}

void pull_back_bands(const PairWork& work, const PairFrame& frame, std::vector<double>& band_weights,
                     PreviousAdjoint& previous) {
    for (std::size_t k = work.bands.size(); k-- > 0;) {
        const BandNode& band = work.bands[k];
        if (band.parent >= 0) band_weights[at(band.parent)] += band_weights[k];
        const double distance_bar = -band_weights[k] * band.first / band.rest;
        const Vector3d force = distance_bar * Eigen::Map<const Vector3d>(band.dr);
        add_force(force, Eigen::Map<const Vector3d>(band.a) - frame.origin_a, previous.a);
        add_force(-force, Eigen::Map<const Vector3d>(band.b) - frame.origin_b, previous.b);
    }
}

void pull_back_half_space(const HalfSpaceFrame& frame, const HalfSpaceWork& work, const PotentialForm& potential,
                          FrictionForm form, const FrictionAdjoint& adjoint, const std::vector<FrictionPoint>& points,
                          std::vector<double>& band_weights, PreviousAdjoint& previous) {
    Vector3d normal_bar = adjoint.normal;
    std::size_t m = 0;
    for (const HeightTerm& term : work.far) {
        if (!term.vertex) continue;
        const FrictionPoint& bar = points[m++];
        const double scale = term.weight * term.share;
        const Taylor c = centred(term.height, potential.far_value);
        double height_bar = -bar.load * scale * c.second;
        add_force(bar.position, term.arm - frame.origin_mesh, previous.a);
        if (form == FrictionForm::Projected) {  // y = x - z n
            normal_bar -= term.height * bar.position;
            height_bar -= frame.normal.dot(bar.position);
        }
        add_height(frame, term.arm, height_bar, normal_bar, previous);
        if (term.parent >= 0) band_weights[at(term.parent)] -= bar.load * scale * c.first;
    }
    for (std::size_t k = work.bands.size(); k-- > 0;) {
        const HeightBand& band = work.bands[k];
        if (band.term.parent >= 0) band_weights[at(band.term.parent)] += band_weights[k];
        add_height(frame, band.term.arm, -band_weights[k] * band.blend.first / band.blend.rest, normal_bar, previous);
    }
    previous.b.tail<3>() += frame.normal.cross(normal_bar);  // dn = w x n
}

}  // namespace farfield::contact::longrange
