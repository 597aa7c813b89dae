// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/half_space_work.hpp"

#include <algorithm>
#include <limits>

#include "farfield/base/index.hpp"

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;

/// C of a term without its share; a near pair's fades, but for vertices, whose bands do.
Taylor far_term(const PotentialForm& form, const HeightTerm& term) {
    const double t = term.height + term.spread;
    const Taylor c = centred(t, form.far_value);
    return form.near() && !term.vertex ? faded(c, step(t, form.fade_start(), form.fade_width())) : c;
}

class Traversal {
 public:
    Traversal(const Shape& mesh, const RotatedShape& rotated, const HalfSpaceFrame& frame, const PotentialForm& form,
              HalfSpaceWork& work)
        : mesh_(mesh),
          tree_(mesh.vertex_tree),
          rotated_(rotated),
          frame_(frame),
          form_(form),
          work_(work),
          eps_(mesh.blend) {}

    [[nodiscard]] bool visit(int node, int parent, double weight) {
        HeightTerm term;
        term.arm = form_.scale * point(rotated_.vertex_centers[at(node)]) + frame_.origin_mesh;
        const double z = frame_.normal.dot(term.arm) + frame_.height;
        term.node = node;
        term.parent = parent;
        term.weight = weight;
        term.vertex = tree_.is_leaf(node);
        term.share = form_.share(mesh_.vertex_area[at(node)]);
        term.spread = form_.parallel_areas ? form_.scale * tree_.spread[at(node)] : 0.0;
        const double d1 = form_.scale * tree_.radius[at(node)], width = eps_ * d1;
        term.radius = term.vertex ? d1 : 0.0;
        term.height = z - term.radius;
        if (form_.near() && z >= d1 + form_.range) {
            work_.gap = std::min(work_.gap, z - d1);
            return true;
        }
        const bool far = form_.hierarchy ? z >= d1 + width : term.vertex;
        if (far || term.vertex) {
            if (!(term.height > 0.0)) return false;
            if (term.vertex && form_.near()) fade_vertex(term);
            work_.far.push_back(term);
            work_.gap = std::min(work_.gap, z - form_.scale * tree_.tight[at(node)]);
            return true;
        }
        if (form_.hierarchy && term.height > d1) {
            const Taylor c = far_term(form_, term);
            const Blend blend_now = blend(term.height, d1, width);
            work_.bands.push_back(
                {term, {term.share * c.value, term.share * c.first, term.share * c.second}, blend_now});
            parent = static_cast<int>(work_.bands.size()) - 1;
            weight *= blend_now.rest;
        }
        return visit(node + 1, parent, weight) && visit(tree_.right[at(node)], parent, weight);
    }

 private:
    /// As a leaf of two meshes: a band with zero in place of C, so that friction sees the vertex's own force.
    void fade_vertex(HeightTerm& term) {
        const Blend fade = step(term.height, form_.fade_start(), form_.fade_width());
        if (!(fade.phi > 0.0)) return;
        work_.bands.push_back({term, Taylor{}, fade});
        term.parent = static_cast<int>(work_.bands.size()) - 1;
        term.weight *= fade.rest;
    }

    const Shape& mesh_;
    const SphereTree& tree_;
    const RotatedShape& rotated_;
    const HalfSpaceFrame& frame_;
    const PotentialForm& form_;
    HalfSpaceWork& work_;
    double eps_;
};

Vector6d height_gradient(const HalfSpaceFrame& frame, const HeightTerm& term) {
    Vector6d gradient;
    gradient << frame.normal, term.arm.cross(frame.normal);
    return gradient;
}

void add_to_parent(HalfSpaceWork& work, int parent, double value, const Vector6d& gradient) {
    if (parent < 0) return;
    work.bands[at(parent)].sum += value;
    work.bands[at(parent)].sum_gradient += gradient;
}

void add_term(const HalfSpaceFrame& frame, const HeightTerm& term, const Vector6d& dz, double slope, double curvature,
              RelativeSum& sum) {
    sum.gradient += slope * dz;
    add_rank_one(dz, curvature, sum.hessian);
    add_rotation_terms(slope * frame.normal, term.arm, sum.hessian);
}

}  // namespace

HalfSpaceFrame make_frame(const RotatedShape& mesh, const Vector3d& position, const HalfSpace& half_space,
                          const Pose& half_space_pose, double scale) {
    HalfSpaceFrame frame;
    frame.normal = half_space_pose.rotation * half_space.normal;
    frame.origin_mesh = -scale * point(mesh.vertex_centers.front());
    frame.origin_plane = (half_space_pose.position - position) + frame.origin_mesh;
    frame.height = -frame.normal.dot(frame.origin_plane) - half_space.offset;
    return frame;
}

void HalfSpaceWork::clear() {
    far.clear();
    bands.clear();
    gap = std::numeric_limits<double>::infinity();
}

bool traverse(const Shape& mesh, const RotatedShape& rotated, const HalfSpaceFrame& frame, const PotentialForm& form,
              HalfSpaceWork& work) {
    work.clear();
    return Traversal(mesh, rotated, frame, form, work).visit(0, -1, 1.0);
}

double sum_values(const PotentialForm& form, const HalfSpaceWork& work) {
    double value = 0.0;
    for (const HeightTerm& term : work.far) {
        value += term.weight * term.share *
                 (form.near() ? far_term(form, term).value : centred_value(term.height + term.spread, form.far_value));
    }
    for (const HeightBand& band : work.bands) value += band.term.weight * band.blend.phi * band.centred.value;
    return value;
}

void sum_derivatives(const HalfSpaceFrame& frame, const PotentialForm& form, HalfSpaceWork& work, RelativeSum& sum) {
    for (const HeightTerm& term : work.far) {
        const Taylor c = far_term(form, term);
        const Vector6d dz = height_gradient(frame, term);
        const double scale = term.weight * term.share;
        sum.value += scale * c.value;
        add_term(frame, term, dz, scale * c.first, scale * c.second, sum);
        add_to_parent(work, term.parent, term.share * c.value, term.share * c.first * dz);
    }
    for (std::size_t k = work.bands.size(); k-- > 0;) {
        const HeightBand& band = work.bands[k];
        const Blend& phi = band.blend;
        const Taylor& c = band.centred;
        const double excess = c.value - band.sum;
        const double slope = phi.phi * c.first + phi.first * excess;
        const double curvature = phi.phi * c.second + 2.0 * phi.first * c.first + phi.second * excess;
        const Vector6d dz = height_gradient(frame, band.term);
        sum.value += band.term.weight * phi.phi * c.value;
        add_term(frame, band.term, dz, band.term.weight * slope, band.term.weight * curvature, sum);
        add_symmetric_product(dz, band.sum_gradient, -band.term.weight * phi.first, sum.hessian);
        add_to_parent(work, band.term.parent, phi.rest * band.sum + phi.phi * c.value,
                      phi.rest * band.sum_gradient + slope * dz);
    }
}

}  // namespace farfield::contact::longrange
