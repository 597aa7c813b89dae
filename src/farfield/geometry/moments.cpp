// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/moments.hpp"

#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/geometry/triangle_mesh.hpp"
#include "farfield/math/dense.hpp"

namespace farfield {

namespace {

/// Second moment about the centre of mass.
Eigen::Matrix3d central(const Moments& moments) {
    return moments.second - moments.first * moments.first.transpose() / moments.mass;
}

double smallest_eigenvalue(const Eigen::Matrix3d& symmetric) { return symmetric_eigen<3>(symmetric).values[0]; }

/// Published inertias are rounded and the shift to the centre of mass cancels; anything below this is a real mistake.
double rounding_allowance(double central_trace, double trace) { return 1e-9 * std::abs(central_trace) + 1e-14 * trace; }

void check_mass(double mass, const std::string& place) {
    if (!(mass > 0.0) || !std::isfinite(mass)) fail(place, ": mass ", mass, ", expected > 0 and finite [kg]");
}

void check_finite(const Eigen::Matrix3d& values, const std::string& place, const char* what) {
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            if (!std::isfinite(values(r, c)))
                fail(place, ": ", what, "[", r, ", ", c, "] = ", values(r, c), ", expected a finite number [kg m^2]");
        }
    }
}

}  // namespace

Eigen::Matrix3d Moments::inertia() const {
    const Eigen::Matrix3d c = central(*this);
    return c.trace() * Eigen::Matrix3d::Identity() - c;
}

Eigen::Matrix4d Moments::matrix() const {
    Eigen::Matrix4d s;
    s << second, first, first.transpose(), mass;
    return s;
}

Moments& Moments::operator+=(const Moments& other) {
    mass += other.mass;
    first += other.first;
    second += other.second;
    return *this;
}

MomentVector to_vector(const Moments& moments) {
    const Eigen::Matrix3d& s = moments.second;
    MomentVector values;
    values << moments.mass, moments.first, s(0, 0), s(1, 1), s(2, 2), s(0, 1), s(0, 2), s(1, 2);
    return values;
}

Moments from_vector(const MomentVector& values) {
    Moments moments;
    moments.mass = values(0);
    moments.first = values.segment<3>(1);
    moments.second << values(4), values(7), values(8), values(7), values(5), values(9), values(8), values(9), values(6);
    return moments;
}

Moments moments_from_inertia(double mass, const Eigen::Vector3d& center, const Eigen::Matrix3d& inertia,
                             const std::string& place) {
    check_mass(mass, place);
    if (!center.allFinite()) fail(place, ": centre of mass (", center.transpose(), "), expected finite numbers [m]");
    check_finite(inertia, place, "inertia");
    const double skew = (inertia - inertia.transpose()).cwiseAbs().maxCoeff();
    if (skew > 1e-9 * inertia.cwiseAbs().maxCoeff()) {
        fail(place, ": inertia is not symmetric: entries differ by ", skew, " from their mirror images [kg m^2]");
    }
    const Eigen::Matrix3d symmetric = 0.5 * (inertia + inertia.transpose());
    const Eigen::Matrix3d second = 0.5 * symmetric.trace() * Eigen::Matrix3d::Identity() - symmetric;
    const double smallest = smallest_eigenvalue(second);
    if (smallest < -rounding_allowance(second.trace(), 0.0)) {
        const Eigen::Vector3d principal = symmetric_eigen<3>(symmetric).values;
        fail(place, ": principal inertias (", principal.x(), ", ", principal.y(), ", ", principal.z(),
             "), expected none negative and none larger than the sum of the other two [kg m^2]: 1/2 tr(I) 1 - I has "
             "eigenvalue ",
             smallest);
    }
    return {mass, mass * center, second + mass * center * center.transpose()};
}

Moments transformed(const Moments& moments, const Eigen::Vector3d& position, const Eigen::Matrix3d& rotation) {
    const Eigen::Vector3d h = rotation * moments.first;
    const Eigen::Matrix3d cross = h * position.transpose();
    Moments result;
    result.mass = moments.mass;
    result.first = h + moments.mass * position;
    result.second = rotation * moments.second * rotation.transpose() + cross + cross.transpose() +
                    moments.mass * position * position.transpose();
    result.second =
        (0.5 * (result.second + result.second.transpose())).eval();  // R S R^T is symmetric only to rounding
    return result;
}

Moments solid_moments(const TriangleMesh& mesh, double density) {
    if (!(density > 0.0) || !std::isfinite(density)) {
        fail("solid_moments: mesh '", mesh.name, "': density ", density, ", expected > 0 and finite [kg/m^3]");
    }
    validate(mesh);
    if (!is_watertight(mesh)) {
        fail("solid_moments: mesh '", mesh.name,
             "' is not watertight, expected every edge in exactly two triangles with ", "opposite orientation");
    }
    // Signed tetrahedra from a point near the mesh (not the origin, from where they would cancel): with D = a.(b x c) and
    // s = a + b + c,  m = sum D/6,  h = sum D s/24,  S = sum D (s s^T + a a^T + b b^T + c c^T)/120.
    const Eigen::Vector3d apex = mesh.vertices.colwise().mean().transpose();
    Moments sum;
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        const Eigen::Vector3d a = mesh.vertices.row(mesh.triangles(t, 0)).transpose() - apex;
        const Eigen::Vector3d b = mesh.vertices.row(mesh.triangles(t, 1)).transpose() - apex;
        const Eigen::Vector3d c = mesh.vertices.row(mesh.triangles(t, 2)).transpose() - apex;
        const Eigen::Vector3d s = a + b + c;
        const double d = density * a.dot(b.cross(c));
        sum.mass += d / 6.0;
        sum.first += d / 24.0 * s;
        sum.second += d / 120.0 * (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
    }
    if (!(sum.mass > 0.0)) {
        fail("solid_moments: mesh '", mesh.name, "': volume ", sum.mass / density,
             ", expected > 0 [m^3]: triangles must be counter-clockwise seen from outside");
    }
    return transformed(sum, apex, Eigen::Matrix3d::Identity());
}

void validate(const Moments& moments, const std::string& place) {
    check_mass(moments.mass, place);
    if (!moments.first.allFinite())
        fail(place, ": first moment (", moments.first.transpose(), "), expected finite numbers [kg m]");
    check_finite(moments.second, place, "second moment");
    const double skew = (moments.second - moments.second.transpose()).cwiseAbs().maxCoeff();
    if (skew > 1e-9 * moments.second.cwiseAbs().maxCoeff()) {
        fail(place, ": second moment is not symmetric: entries differ by ", skew, " from their mirror images [kg m^2]");
    }
    const Eigen::Matrix3d c = central(moments);
    const double smallest = smallest_eigenvalue(0.5 * (c + c.transpose()));
    if (smallest < -rounding_allowance(c.trace(), moments.second.trace())) {
        fail(place, ": second moment about the centre of mass has eigenvalue ", smallest, ", expected >= 0 [kg m^2]");
    }
}

}  // namespace farfield
