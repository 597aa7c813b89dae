// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  How one body moves as seen from another along q -> retract(q, t delta), t in [0, 1], and how much it can bend.
///
/// Formula:   product of exponentials at t = 0 in the frame of body a, from a outwards through the last common ancestor
///            to b: y(t) = M_1(t) ... M_m(t) y(0), M_k = rotation by t w_k about o_k, or translation by t v_k;
///              y'' = sum over turning k of [2 sum_{j<k} w_j x + w_k x] (w_k x (y - o_k))
///                  + sum over sliding k of 2 sum_{j<k} w_j x v_k,     j turning.
///            For a fixed unit n, |n . (w_j x z)| <= f_j |w_j| |z|,
///              f_j = min(1, |n x w_j(0)|/|w_j| + sum_{i<j} |w_i|).
///            At most two turning motions with slides only between them (free rigid bodies): with A = -w_1,
///            d = w_2 - A, p(t) = o_2 - o_1 + t v,
///              y'' = A x (A x p - 2 v) + (d x A) x r + d x (d x r), turned back by exp(-t A): common spin cancels.
/// Symbols:   r -> distance of a point of b from the origin of its frame [m]; bounds hold for all t in [0, 1]
/// Lever arms are sums of distances between neighbouring anchors at t = 0, which only slides between them can change.
#include <Eigen/Dense>
#include <vector>

#include "farfield/math/pose.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {

/// |second derivative| <= base + slope r.
struct CurvatureBound {
    double base = 0.0, slope = 0.0;
    [[nodiscard]] double at(double r) const { return base + slope * r; }
};

class RelativeMotion {
 public:
    /// One elementary motion over the whole step, in the frame of body a at t = 0.
    struct Element {
        bool turns = false;
        Eigen::Vector3d motion = Eigen::Vector3d::Zero();  ///< rotation vector [rad] or translation [m]
        Eigen::Vector3d anchor = Eigen::Vector3d::Zero();  ///< turning only
        double size = 0.0;                                 ///< |motion|
        double reach = 0.0;                                ///< turning only: bound of |origin of b - anchor| for all t
    };

    /// Starts a motion: where b's frame is in a's frame at t = 0.
    void begin(const Pose& b_in_a);
    /// Appends the next element outwards from a; neighbouring slides are merged, motions of size zero dropped.
    void turn(const Eigen::Vector3d& rotation, const Eigen::Vector3d& anchor);
    void slide(const Eigen::Vector3d& translation);
    /// Ends it: lever arms and the constants of the bounds.
    void finish();

    [[nodiscard]] bool is_still() const { return elements_.empty(); }
    /// Sum of all angles turned [rad].
    [[nodiscard]] double turning() const;
    [[nodiscard]] const Pose& start() const { return start_; }
    /// Placement of b's frame in a's frame at time t.
    [[nodiscard]] Pose at(double t) const;
    /// Bound of |y''| in every direction.
    [[nodiscard]] const CurvatureBound& any_direction() const { return isotropic_; }
    /// Bound of |n . y''| for a unit vector n fixed in a's frame.
    [[nodiscard]] CurvatureBound along(const Eigen::Vector3d& n) const;

 private:
    [[nodiscard]] CurvatureBound rigid_along(const Eigen::Vector3d& n) const;
    template <class Factor>
    [[nodiscard]] CurvatureBound chain_sum(Factor&& factor) const;
    void set_rigid_constants();

    Pose start_;
    std::vector<Element> elements_;
    CurvatureBound isotropic_;
    bool rigid_ = false;
    // rigid form: A, d, d x A, A x p - 2 v at both ends (largest norm), distance of b's origin from the centre of its
    // rotation
    Eigen::Vector3d spin_, difference_, cross_;
    double lever_ = 0.0, lever_cross_ = 0.0, origin_offset_ = 0.0;
};

/// The moving joints between each body and the root: what a relative motion is assembled from.
class MotionPaths {
 public:
    explicit MotionPaths(const Model& model);

    /// Motion of `b` seen from `a` along retract(q, t delta), kinematics taken at q. `frame_a`, `frame_b`: world
    /// placements at t = 0 of frames
    /// fixed in the bodies; joints common to both paths cancel.
    void relative(const Kinematics& start, const Eigen::VectorXd& delta, int a, int b, const Pose& frame_a,
                  const Pose& frame_b, RelativeMotion& out) const;

 private:
    struct Step {
        JointType type = JointType::Hinge;
        int dof = 0;
    };
    void append(const Kinematics& start, const Eigen::VectorXd& delta, const Step& step, double sign, const Pose& frame,
                RelativeMotion& out) const;

    std::vector<std::vector<Step>> steps_;  ///< per body, root first
};

}  // namespace farfield
