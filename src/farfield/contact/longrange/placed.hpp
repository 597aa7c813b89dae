// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Private to long_range*.cpp: a pair of bodies where they are, and the half-spaces between them.
#include "farfield/contact/longrange/long_range.hpp"

namespace farfield::contact::longrange {

struct LongRange::Placed {
    int pair = 0, a = 0, b = 0;
    const Shape *shape_a = nullptr, *shape_b = nullptr;
    const RotatedShape *rotated_a = nullptr, *rotated_b = nullptr;
    const Pose *pose_a = nullptr, *pose_b = nullptr;  ///< lengths divided by the length scale

    [[nodiscard]] bool meshes() const { return shape_a->has_mesh() && shape_b->has_mesh(); }
};

struct LongRange::Facing {
    bool mesh_is_a = true;
    const Shape* mesh = nullptr;
    const RotatedShape* rotated = nullptr;
    HalfSpaceFrame frame;
};

template <class Work>
void LongRange::for_each_half_space(const Placed& at, Work&& work) const {
    std::size_t index = 0;
    const auto one_side = [&](bool mesh_is_a) {
        const Shape& mesh = mesh_is_a ? *at.shape_a : *at.shape_b;
        const Shape& other = mesh_is_a ? *at.shape_b : *at.shape_a;
        if (!mesh.has_mesh()) return;
        const RotatedShape& rotated = mesh_is_a ? *at.rotated_a : *at.rotated_b;
        const Pose& mesh_pose = mesh_is_a ? *at.pose_a : *at.pose_b;
        const Pose& other_pose = mesh_is_a ? *at.pose_b : *at.pose_a;
        for (const HalfSpace& half_space : other.half_spaces) {
            work(index++,
                 Facing{mesh_is_a, &mesh, &rotated, make_frame(rotated, mesh_pose.position, half_space, other_pose)});
        }
    };
    one_side(true);
    one_side(false);
}

}  // namespace farfield::contact::longrange
