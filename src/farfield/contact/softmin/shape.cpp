// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/softmin/shape.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/geometry/cloud_sampling.hpp"
#include "farfield/math/rotation.hpp"
#include "farfield/scene/shape_surface.hpp"

namespace farfield::contact::softmin {
namespace {

using Eigen::Vector3d;

constexpr double kDefaultPoints = 200.0;  // of a cloud made from a mesh
constexpr double kCapsuleSpacing = 1.0;   // of balls along a capsule, in radii

void positive(const char* what, double value, const char* unit) {
    if (!(value > 0.0) || !std::isfinite(value)) fail("softmin: ", what, " ", value, ", expected > 0", unit);
}

Surface exact_surface(const Shape& shape, SurfaceKind kind) {
    Surface out{.kind = kind};
    out.rotation = shape.orientation.normalized().toRotationMatrix();
    out.centre = shape.position;
    if (kind == SurfaceKind::Box) {
        out.half = shape.size;
        out.inradius = shape.size.minCoeff();
    } else {
        out.radius = out.inradius = shape.size[0];
        out.half[2] = kind == SurfaceKind::Capsule ? shape.size[1] : 0.0;
    }
    return out;
}

/// Balls that fill a sphere or a capsule.
QuerySet ball_queries(const Surface& surface) {
    const double half = surface.half[2];
    const int count = half > 0.0 ? static_cast<int>(std::ceil(2.0 * half / (kCapsuleSpacing * surface.radius))) + 1 : 1;
    PointRows centres(count, 3);
    for (int k = 0; k < count; ++k) {
        const double z = count > 1 ? half * (2.0 * k / (count - 1.0) - 1.0) : 0.0;
        centres.row(k) = (surface.centre + surface.rotation.col(2) * z).transpose();
    }
    return {build_point_tree(centres), surface.radius};
}

Surface cloud_surface(const PointCloud& cloud, const SoftminOptions& options) {
    Surface out{.kind = SurfaceKind::Cloud, .tree = build_point_tree(cloud.points, cloud.normals)};
    out.temperature = cloud.temperature;
    out.reach = cloud.temperature * truncation(cloud.size(), options.tolerance);
    out.normal_smoothing = options.normal_smoothing;
    out.inradius = inradius(cloud);
    return out;
}

/// Vertices of triangles, each once.
PointRows distinct_vertices(const TriangleMesh& mesh) {
    std::vector<Vector3d> points;
    for (Eigen::Index k = 0; k < mesh.triangles.size(); ++k)
        points.push_back(mesh.vertices.row(mesh.triangles.data()[k]).transpose());
    const auto key = [](const Vector3d& p) { return std::tuple(p.x(), p.y(), p.z()); };
    std::sort(points.begin(), points.end(), [&](const Vector3d& a, const Vector3d& b) { return key(a) < key(b); });
    points.erase(std::unique(points.begin(), points.end()), points.end());
    PointRows out(static_cast<Eigen::Index>(points.size()), 3);
    for (std::size_t k = 0; k < points.size(); ++k) out.row(static_cast<Eigen::Index>(k)) = points[k].transpose();
    return out;
}

PointCloud sampled_cloud(const Scene& scene, const std::vector<const Shape*>& shapes, const TriangleMesh& whole,
                         const SoftminOptions& options) {
    const double spacing = options.spacing.value_or(std::sqrt(surface_area(whole) / kDefaultPoints));
    std::vector<TriangleMesh> parts;
    for (const Shape* shape : shapes) parts.push_back(shape_surface(*shape, scene));
    return mesh_cloud(parts, spacing, options.cloud_temperature);
}

}  // namespace

double truncation(int points, double tolerance) { return std::log(std::max(1, points) / tolerance); }

const char* name_of(ForceForm form) {
    return form == ForceForm::MeanPlane ? "mean_plane" : form == ForceForm::Planes ? "planes" : "paper";
}
const char* name_of(DampingForm form) { return form == DampingForm::Smooth ? "smooth" : "paper"; }

bool from_name(const std::string& name, ForceForm& form) {
    for (const ForceForm known : {ForceForm::MeanPlane, ForceForm::Planes, ForceForm::Paper}) {
        if (name == name_of(known)) {
            form = known;
            return true;
        }
    }
    return false;
}
bool from_name(const std::string& name, DampingForm& form) {
    for (const DampingForm known : {DampingForm::Smooth, DampingForm::Paper}) {
        if (name == name_of(known)) {
            form = known;
            return true;
        }
    }
    return false;
}

void validate(const SoftminOptions& options) {
    positive("stiffness", options.stiffness, "");
    if (options.newtons_per_metre) positive("newtons_per_metre", *options.newtons_per_metre, " [N/m]");
    if (options.separation_temperature) positive("separation_temperature", *options.separation_temperature, " [m]");
    if (options.force_temperature) positive("force_temperature", *options.force_temperature, " [m]");
    positive("damping_speed", options.damping_speed, " [m/s]");
    positive("slip_speed", options.slip_speed, " [m/s]");
    if (!(options.normal_smoothing >= 0.0 && options.normal_smoothing < 1.0))
        fail("softmin: normal_smoothing ", options.normal_smoothing, ", expected 0 to 1");
    if (options.spacing) positive("spacing", *options.spacing, " [m]");
    positive("cloud_temperature", options.cloud_temperature, " [squared spacings]");
    if (!(options.tolerance > 0.0 && options.tolerance < 1e-3))
        fail("softmin: tolerance ", options.tolerance, ", expected above 0 and below 1e-3");
    for (const BodyCloud& given : options.clouds) {
        const std::string place = "softmin: cloud of body '" + given.body + "'";
        validate(given.cloud, place.c_str());
    }
}

std::vector<BodyShape> make_shapes(const Model& model, const SoftminOptions& options) {
    const auto count = static_cast<std::size_t>(model.num_bodies());
    std::vector<BodyShape> out(count);
    for (const BodyCloud& given : options.clouds) {
        const auto body = model.find_body(given.body);
        if (!body) fail("softmin: cloud of body '", given.body, "', which the model does not have");
        BodyShape& shape = out[static_cast<std::size_t>(*body)];
        shape.cloud = given.cloud;
        if (given.support.rows() > 0) shape.support = {build_point_tree(given.support)};
    }
    std::vector<std::vector<const Shape*>> shapes(count);
    for (const Shape& shape : model.scene().shapes) {
        if (shape.collides && shape.type != ShapeType::HalfSpace)
            shapes[static_cast<std::size_t>(shape.body)].push_back(&shape);
    }
    for (std::size_t body = 0; body < count; ++body) {
        BodyShape& shape = out[body];
        const CollisionBody& collision = model.collision().bodies[body];
        for (const HalfSpace& half : collision.half_spaces) {
            Surface plane{.kind = SurfaceKind::HalfSpace};
            plane.rotation = turn_between(Vector3d::UnitZ(), half.normal);
            plane.centre = half.offset * half.normal;
            shape.half_spaces.push_back(plane);
        }
        if (shapes[body].empty()) continue;
        const auto& vertices = collision.mesh.vertices;
        shape.size = (vertices.colwise().maxCoeff() - vertices.colwise().minCoeff()).maxCoeff();
        const ShapeType type = shapes[body].front()->type;
        const bool round = type == ShapeType::Sphere || type == ShapeType::Capsule;
        if (!shape.cloud && shapes[body].size() == 1 && round) {
            shape.surface = exact_surface(*shapes[body].front(),
                                          type == ShapeType::Sphere ? SurfaceKind::Sphere : SurfaceKind::Capsule);
            shape.queries = ball_queries(*shape.surface);
            shape.support = shape.queries;
            continue;
        }
        if (!shape.cloud) shape.cloud = sampled_cloud(model.scene(), shapes[body], collision.mesh, options);
        shape.queries = {build_point_tree(shape.cloud->points, shape.cloud->normals)};
        const bool box = options.exact_boxes && shapes[body].size() == 1 && type == ShapeType::Box;
        shape.surface =
            box ? exact_surface(*shapes[body].front(), SurfaceKind::Box) : cloud_surface(*shape.cloud, options);
        if (shape.support.empty()) shape.support = {build_point_tree(distinct_vertices(collision.mesh))};
    }
    return out;
}

}  // namespace farfield::contact::softmin
