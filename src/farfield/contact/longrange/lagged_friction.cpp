// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/lagged_friction.hpp"

#include "farfield/base/index.hpp"

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;

/// From a vertex along the normal to where it rubs: on the plane, or as printed at the vertex itself, on its ball if it has one.
double rubbing_depth(const HeightTerm& term, FrictionForm form) {
    return form == FrictionForm::Projected ? term.height + term.radius : term.radius;
}

/// z enters through the vertex, the normal and the origin of the half-space: z = n.(x - p) - offset.
void add_height(const HalfSpaceFrame& frame, const Vector3d& arm, double adjoint, Vector3d& normal,
                StartAdjoint& start) {
    add_force(adjoint * frame.normal, arm - frame.origin_mesh, start.a);
    start.b.head<3>() -= adjoint * frame.normal;
    normal += adjoint * (arm - frame.origin_plane);
}

double pressure_of(const HeightTerm& term, const PotentialForm& potential) {
    return -term.weight * centred(term.height, potential.far_value).first;
}

}  // namespace

void lag_half_space(const HalfSpaceFrame& frame, const HalfSpaceWork& work, const PotentialForm& potential,
                    FrictionForm form, const FrictionRamp& ramp, LaggedHalfSpace& lagged) {
    lagged.frame = frame;
    lagged.points.clear();
    for (const HeightTerm& term : work.far) {
        if (!term.vertex) continue;
        const double pressure = pressure_of(term, potential), left = ramp.at(pressure).value;
        if (left == 0.0) continue;
        FrictionPoint point{term.arm, left * term.share * pressure};
        point.position -= rubbing_depth(term, form) * frame.normal;
        lagged.points.push_back(point);
    }
    lagged.duals.resize(lagged.points.size());
}

void pull_back_bands(const PairWork& work, const PairFrame& frame, std::vector<double>& band_weights,
                     StartAdjoint& start) {
    for (std::size_t k = work.bands.size(); k-- > 0;) {
        const BandNode& band = work.bands[k];
        if (band.parent >= 0) band_weights[at(band.parent)] += band_weights[k];
        const double distance_bar = -band_weights[k] * band.first / band.rest;
        const Vector3d force = distance_bar * Eigen::Map<const Vector3d>(band.dr);
        add_force(force, Eigen::Map<const Vector3d>(band.a) - frame.origin_a, start.a);
        add_force(-force, Eigen::Map<const Vector3d>(band.b) - frame.origin_b, start.b);
    }
}

void pull_back_half_space(const HalfSpaceFrame& frame, const HalfSpaceWork& work, const PotentialForm& potential,
                          FrictionForm form, const FrictionRamp& ramp, const FrictionAdjoint& adjoint,
                          const std::vector<FrictionPoint>& points, std::vector<double>& band_weights,
                          StartAdjoint& start) {
    Vector3d normal_bar = adjoint.normal;
    std::size_t m = 0;
    for (const HeightTerm& term : work.far) {
        if (!term.vertex) continue;
        const FrictionRamp::Factor left = ramp.at(pressure_of(term, potential));
        if (left.value == 0.0) continue;
        FrictionPoint bar = points[m++];
        bar.load *= left.value + left.slope;  // d(S a) = (S + dS/dln a) da
        const double scale = term.weight * term.share;
        const Taylor c = centred(term.height, potential.far_value);
        double height_bar = -bar.load * scale * c.second;
        add_force(bar.position, term.arm - frame.origin_mesh, start.a);
        normal_bar -= rubbing_depth(term, form) * bar.position;  // y = x - depth n
        if (form == FrictionForm::Projected) height_bar -= frame.normal.dot(bar.position);
        add_height(frame, term.arm, height_bar, normal_bar, start);
        if (term.parent >= 0) band_weights[at(term.parent)] -= bar.load * scale * c.first;
    }
    for (std::size_t k = work.bands.size(); k-- > 0;) {
        const HeightBand& band = work.bands[k];
        if (band.term.parent >= 0) band_weights[at(band.term.parent)] += band_weights[k];
        add_height(frame, band.term.arm, -band_weights[k] * band.blend.first / band.blend.rest, normal_bar, start);
    }
    start.b.tail<3>() += frame.normal.cross(normal_bar);  // dn = w x n
}

}  // namespace farfield::contact::longrange
