// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options of the soft-minimum contact law.
#include <optional>
#include <string>
#include <vector>

#include "farfield/geometry/point_cloud.hpp"

namespace farfield::contact::softmin {

enum class ForceForm {
    MeanPlane,  ///< one force per point, from the soft distance and the mean normal of the planes around it
    Planes,     ///< the mean of the forces of all planes, both bodies at the point
    Paper,      ///< as printed [SCM2025, Eqs. (21)-(23)]: opposite sign, the plane's body held at the plane's centre
};

enum class DampingForm {
    Smooth,  ///< twice differentiable
    Paper,   ///< as printed [SCM2025, Eq. (17)]: its second derivative jumps
};

[[nodiscard]] const char* name_of(ForceForm form);                       ///< "mean_plane", "planes", "paper"
[[nodiscard]] const char* name_of(DampingForm form);                     ///< "smooth", "paper"
[[nodiscard]] bool from_name(const std::string& name, ForceForm& form);  ///< false: no such name
[[nodiscard]] bool from_name(const std::string& name, DampingForm& form);

/// The cloud of one body, in place of the one made from its shapes.
struct BodyCloud {
    std::string body;
    PointCloud cloud;
    PointRows support{};  ///< what meets half-spaces, body frame [m]; empty: vertices of the body's mesh
};

struct SoftminOptions {
    double stiffness = 1.0;  ///< factor of the stiffness of a pair below
    /// k of every pair [N/m]; none: that under which the lighter body sinks by 1/150 of its size.
    std::optional<double> newtons_per_metre{};
    /// Of the soft minimum over points, and of the ramp of the force [m]; none: 1/250 of the size of the smaller body.
    std::optional<double> separation_temperature{}, force_temperature{};
    double damping_speed = 0.5;     ///< v_d [m/s]: at this approach the force doubles
    double slip_speed = 0.05;       ///< v_s [m/s]: below it friction fades
    double normal_smoothing = 0.1;  ///< shortens mean normals m to m / sqrt(m^2 + this^2)
    ForceForm forces = ForceForm::MeanPlane;
    DampingForm damping = DampingForm::Smooth;
    std::optional<double> spacing{};  ///< of clouds made from meshes [m]; none: about 200 points a body
    double cloud_temperature = 0.1;   ///< of those clouds, in squared spacings
    double tolerance = 1e-10;         ///< of what truncation leaves out of a pair's wrench, relative
    bool exact_boxes = false;  ///< bodies that are one box have its exact surface; their points are those of a cloud
    std::vector<BodyCloud> clouds{};
};

/// Throws, naming the option, its value and what is expected.
void validate(const SoftminOptions& options);

}  // namespace farfield::contact::softmin
