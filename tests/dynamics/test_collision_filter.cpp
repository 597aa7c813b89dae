// SPDX-License-Identifier: Apache-2.0
/// @file  Certified steps against brute force on motions built to break them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "farfield/base/random.hpp"
#include "farfield/dynamics/collision_filter.hpp"
#include "farfield/geometry/distance.hpp"
#include "farfield/math/rotation.hpp"
#include "farfield/scene/shape_surface.hpp"
#include "support/collision_meshes.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using test::add_free_body;
using test::make_channel;
using test::make_sheet;
using test::make_slivers;
using test::make_torus;
using test::two_bodies;

/// FARFIELD_LONG_TESTS=n multiplies the number of motions.
int effort() {
    const char* text = std::getenv("FARFIELD_LONG_TESTS");
    return text ? std::max(1, std::atoi(text)) : 1;
}

struct Motion {
    VectorXd q, delta;
};

/// q and step of two free bodies; rotations of the step in body axes.
Motion free_pair(const Pose& a, const Vector6d& step_a, const Pose& b, const Vector6d& step_b) {
    Motion motion{VectorXd(14), VectorXd(12)};
    motion.q << a.position, quaternion_from_rotation(a.rotation), b.position, quaternion_from_rotation(b.rotation);
    motion.delta << step_a, step_b;
    return motion;
}

Vector6d step(const Vector3d& v, const Vector3d& w) {
    Vector6d out;
    out << v, w;
    return out;
}

struct Case {
    std::string name;
    std::shared_ptr<const Model> model;
    std::function<Motion(Random&)> draw;
    int motions = 200;
};

/// Smallest distance of one pair by comparing all triangles; distances above `limit` are not told apart.
double brute_distance(const CollisionBody& a, const Pose& pose_a, const CollisionBody& b, const Pose& pose_b,
                      double limit) {
    struct Boxed {
        Triangle triangle;
        double radius;
        Eigen::AlignedBox3d box;
    };
    const auto place = [](const CollisionBody& body, const Pose& pose) {
        std::vector<Boxed> out;
        for (Eigen::Index t = 0; t < body.mesh.triangles.rows(); ++t) {
            Boxed boxed;
            for (int k = 0; k < 3; ++k)
                boxed.triangle[static_cast<std::size_t>(k)] =
                    pose * Vector3d(body.mesh.vertices.row(body.mesh.triangles(t, k)).transpose());
            boxed.radius = body.mesh.radius(t);
            const Vector3d around = Vector3d::Constant(boxed.radius);
            for (const Vector3d& p : boxed.triangle) boxed.box.extend(p - around).extend(p + around);
            out.push_back(boxed);
        }
        return out;
    };
    const auto first = place(a, pose_a), second = place(b, pose_b);
    double best = limit;
    for (const Boxed& s : first) {
        for (const Boxed& t : second) {
            if (s.box.squaredExteriorDistance(t.box) > best * best) continue;
            best = std::min(best, swept_distance(s.triangle, s.radius, t.triangle, t.radius).distance);
        }
    }
    for (const auto& [plane, plane_pose, body] : {std::tuple(&a, &pose_a, &second), std::tuple(&b, &pose_b, &first)}) {
        for (const HalfSpace& half : plane->half_spaces) {
            for (const Boxed& boxed : *body) {
                for (const Vector3d& p : boxed.triangle)
                    best = std::min(best, half.normal.dot(plane_pose->inverse() * p) - half.offset - boxed.radius);
            }
        }
    }
    return best;
}

const CollisionGeometry& surfaces_of(const CollisionFilter& filter, const Model& model) {
    return filter.surfaces() ? *filter.surfaces() : model.collision();
}

class Checker {
 public:
    Checker(const Model& model, const FilterOptions& options)
        : model_(model), filter_(model, round_geometry(model.collision()), options) {}

    /// False when the motion starts in contact.
    bool run(const Motion& motion) {
        forward_kinematics(model_, model_.default_parameters(), motion.q, start_);
        const auto& pairs = model_.collision().pairs;
        gaps_.resize(pairs.size());
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            gaps_[p] = filter_.gap_lower_bound(static_cast<int>(p), start_.poses);
            if (!(gaps_[p] > 1e-8)) return false;
        }
        memory_.forget();
        result_ = filter_.max_step(start_, motion.delta, gaps_, memory_);
        return true;
    }
    [[nodiscard]] const CollisionFilter::Result& result() const { return result_; }
    [[nodiscard]] double alpha() const { return result_.alpha; }

    /// Least of gap/(keep g0) - 1 over pairs at time t, cut off just above zero.
    double slack(const Motion& motion, double t) {
        VectorXd moved;
        retract(model_, motion.q, t * motion.delta, moved);
        forward_kinematics(model_, model_.default_parameters(), moved, later_);
        double least = std::numeric_limits<double>::infinity();
        const auto& pairs = model_.collision().pairs;
        const auto& bodies = surfaces_of(filter_, model_).bodies;
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            const auto a = static_cast<std::size_t>(pairs[p].a), b = static_cast<std::size_t>(pairs[p].b);
            const double kept = filter_.options().keep * gaps_[p];
            least = std::min(
                least,
                brute_distance(bodies[a], later_.poses[a], bodies[b], later_.poses[b], 1.01 * kept) / kept - 1.0);
        }
        return least;
    }
    bool violated(const Motion& motion, int samples) {
        for (int k = 0; k <= samples; ++k) {
            if (slack(motion, alpha() * k / samples) < -1e-6) return true;
        }
        return false;
    }
    /// First time at which the gap falls to `keep` times that at the start (to 1e-3), or more than 1.
    double first_time(const Motion& motion) {
        constexpr int kSamples = 100;
        for (int k = 1; k <= kSamples; ++k) {
            if (slack(motion, 1.0 * k / kSamples) >= 0.0) continue;
            double low = (k - 1.0) / kSamples, high = 1.0 * k / kSamples;
            while (high - low > 1e-3 * high)
                (slack(motion, 0.5 * (low + high)) >= 0.0 ? low : high) = 0.5 * (low + high);
            return high;
        }
        return 2.0;
    }

 private:
    const Model& model_;
    CollisionFilter filter_;
    FilterMemory memory_;
    Kinematics start_, later_;
    std::vector<double> gaps_;
    CollisionFilter::Result result_;
};

/// Two arms of boxes with every kind of joint, one on the world, one on a floating base.
std::shared_ptr<const Model> two_arms() {
    Scene scene;
    int counter = 0;
    const auto link = [&](int parent, const Vector3d& position, std::vector<Joint> joints) {
        const int body = static_cast<int>(scene.bodies.size());
        for (Joint& joint : joints) joint.name = "joint " + std::to_string(counter++);
        scene.bodies.push_back(Body{.name = "link " + std::to_string(body),
                                    .parent = parent,
                                    .position = position,
                                    .joints = std::move(joints),
                                    .moments = box_moments(Vector3d::Constant(0.1), 1000.0)});
        scene.shapes.push_back(Shape{.name = "box " + std::to_string(body),
                                     .body = body,
                                     .type = ShapeType::Box,
                                     .size = {0.18, 0.04, 0.05},
                                     .position = {0.22, 0.0, 0.0}});
        return body;
    };
    const auto hinge = [](const Vector3d& axis) { return Joint{.type = JointType::Hinge, .axis = axis}; };
    int body = link(0, {0.0, 0.0, 0.0}, {hinge({0, 0, 1})});
    body = link(body, {0.45, 0.0, 0.0}, {Joint{.type = JointType::Universal, .axis = {0, 1, 0}, .axis2 = {0, 0, 1}}});
    body = link(body, {0.45, 0.0, 0.0}, {Joint{.type = JointType::Slide, .axis = {1, 0, 0}}, hinge({0, 0, 1})});
    body = link(0, {0.0, 0.6, 0.0}, {Joint{.type = JointType::Free}});
    body = link(body, {0.45, 0.0, 0.0}, {Joint{.type = JointType::Ball}});
    body = link(body, {0.45, 0.0, 0.0}, {hinge({0, 1, 0}), hinge({0, 0, 1})});
    scene.shapes.push_back(
        Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace, .position = {0.0, 0.0, -0.8}});
    return build_model(scene);
}

/// A dumb-bell, two spheres and a capsule, and a box with a capsule across it, above the ground.
std::shared_ptr<const Model> round_bodies() {
    Scene scene;
    for (const char* name : {"bell", "hammer"}) {
        scene.bodies.push_back(Body{.name = name,
                                    .position = {2.0 * static_cast<double>(scene.bodies.size()), 0.0, 2.0},
                                    .joints = {Joint{.name = name, .type = JointType::Free}},
                                    .moments = box_moments(Vector3d::Constant(0.1), 1000.0)});
    }
    const auto add = [&](int body, ShapeType type, const Vector3d& size, const Vector3d& position) {
        scene.shapes.push_back(Shape{.name = "shape " + std::to_string(scene.shapes.size()),
                                     .body = body,
                                     .type = type,
                                     .size = size,
                                     .position = position});
    };
    add(1, ShapeType::Capsule, {0.02, 0.2, 0.0}, Vector3d::Zero());
    add(1, ShapeType::Sphere, {0.1, 0.0, 0.0}, {0.0, 0.0, 0.2});
    add(1, ShapeType::Sphere, {0.06, 0.0, 0.0}, {0.0, 0.0, -0.2});
    add(2, ShapeType::Capsule, {0.03, 0.25, 0.0}, Vector3d::Zero());
    add(2, ShapeType::Box, {0.08, 0.12, 0.05}, {0.0, 0.0, 0.25});
    scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
    return build_model(scene);
}

std::vector<Case> hard_cases() {
    std::vector<Case> cases;
    const auto small_turn = [](Random& random, double size) {
        return Pose{exp_rotation(size * Vector3d(normal_vector(random, 3))), Vector3d::Zero()};
    };
    const auto at = [](Pose pose, const Vector3d& position) {
        pose.position = position;
        return pose;
    };
    const auto vec = [](Random& random, double size) -> Vector3d { return size * Vector3d(normal_vector(random, 3)); };
    const auto log_uniform = [](Random& random, double low, double high) {
        return std::pow(10.0, uniform(random, low, high));
    };

    for (const bool open : {true, false}) {
        const TriangleMesh plate = open ? make_sheet(0.5, 0.4) : make_box({0.5, 0.4, 5e-4});
        cases.push_back({open ? "sheets" : "thin plates", two_bodies(plate, plate), [=](Random& random) {
                             const double gap = log_uniform(random, -3.0, -0.5);
                             return free_pair(small_turn(random, 0.3), step(vec(random, 0.05), vec(random, 0.3)),
                                              at(small_turn(random, 0.3), {0.1, 0.1, 0.3 + gap}),
                                              step({0.0, 0.0, -uniform(random, 0.3, 2.0)}, vec(random, 0.6)));
                         }});
    }
    cases.push_back(
        {"bead through a ring", two_bodies(make_torus(0.5, 0.1, 10, 5), make_sphere(0.25, 1)), [=](Random& random) {
             return free_pair(small_turn(random, 0.2), step(vec(random, 0.05), vec(random, 0.3)),
                              at(small_turn(random, 1.0), Vector3d(vec(random, 0.1) + Vector3d(0, 0, 0.6))),
                              step({0.0, 0.0, -uniform(random, 0.5, 1.5)}, vec(random, 1.0)));
         }});
    cases.push_back(
        {"linked rings", two_bodies(make_torus(0.5, 0.08, 10, 5), make_torus(0.5, 0.08, 10, 5)), [=](Random& random) {
             Pose other = small_turn(random, 0.3);
             other.rotation *= exp_rotation({0.5 * std::numbers::pi, 0.0, 0.0});
             return free_pair(small_turn(random, 0.2), step(vec(random, 0.2), vec(random, 0.5)),
                              at(other, Vector3d(0.45, 0, 0) + vec(random, 0.1)),
                              step(vec(random, 0.2), vec(random, 0.5)));
         }});
    cases.push_back({"nested shells", two_bodies(make_sphere(0.5, 1), make_sphere(0.3, 1)), [=](Random& random) {
                         return free_pair(small_turn(random, 1.0), step(vec(random, 0.1), vec(random, 0.5)),
                                          at(small_turn(random, 1.0), vec(random, 0.06)),
                                          step(vec(random, 0.2), vec(random, 0.5)));
                     }});
    cases.push_back(
        {"spinning bars", two_bodies(make_box({0.5, 0.02, 0.02}), make_box({0.5, 0.02, 0.02})), [=](Random& random) {
             return free_pair(small_turn(random, 1.0),
                              step(vec(random, 0.1), uniform(random, 0.0, 6.0) * unit_vector(random)),
                              at(small_turn(random, 1.0), 0.3 * unit_vector(random)),
                              step(vec(random, 0.3), uniform(random, 0.0, 6.0) * unit_vector(random)));
         }});
    cases.push_back(
        {"sliding planks", two_bodies(make_box({1.0, 0.2, 0.1}), make_box({1.0, 0.2, 0.1})), [=](Random& random) {
             const double gap = log_uniform(random, -7.0, -3.0), slide = log_uniform(random, -4.0, -1.0);
             const Pose pose{exp_rotation(vec(random, 1.0)), vec(random, 1.0)};
             const Pose above = pose * Pose{exp_rotation({0.0, 0.0, 0.3 * normal(random)}),
                                            {uniform(random, -0.5, 0.5), 0.05, 0.2 + gap}};
             const double tilt = uniform(random) < 0.5 ? 0.0 : gap;
             const Vector3d push =
                 pose.rotation * Vector3d(slide, 0.3 * slide, -uniform(random, 0.0, 1.2) * (tilt > 0.0 ? gap : 0.0));
             return free_pair(pose, step(Vector3d::Zero(), {0.0, 0.0, 0.1 * slide}), above,
                              step(push, {tilt * normal(random), tilt * normal(random), slide}));
         }});
    cases.push_back(
        {"boxes turning together", two_bodies(make_box({0.3, 0.2, 0.1}), make_box({0.3, 0.2, 0.1})),
         [=](Random& random) {
             const double gap = log_uniform(random, -5.0, -2.0);
             const Pose pose{exp_rotation(vec(random, 1.0)), vec(random, 0.5)};
             const Pose other = pose * Pose{exp_rotation({0.0, 0.0, 0.2 * normal(random)}), {0.1, 0.05, 0.2 + gap}};
             const Vector3d spin = uniform(random, 0.0, 0.5) * unit_vector(random);  // world
             const Vector3d center = vec(random, 0.3);
             return free_pair(
                 pose, step(spin.cross(pose.position - center), pose.rotation.transpose() * spin), other,
                 step(spin.cross(other.position - center), other.rotation.transpose() * spin + vec(random, 0.1 * gap)));
         }});
    cases.push_back({"slivers", two_bodies(make_slivers(1.0, 4), make_slivers(1.0, 4)), [=](Random& random) {
                         return free_pair(small_turn(random, 1.0), step(vec(random, 0.1), vec(random, 0.4)),
                                          at(small_turn(random, 1.0), vec(random, 0.3)),
                                          step(vec(random, 0.4), vec(random, 0.4)));
                     }});
    cases.push_back(
        {"interlocked channels", two_bodies(make_channel(0.5, 0.8, 0.1, 0.3), make_channel(0.5, 0.8, 0.1, 0.3)),
         [=](Random& random) {
             const double gap = log_uniform(random, -5.0, -1.5);
             Pose other{exp_rotation({std::numbers::pi, 0.0, 0.0}), Vector3d(-0.4 + 0.0, 0.0, 0.9 + gap)};
             other.position += Vector3d(uniform(random, -0.05, 0.05) - 0.1, uniform(random, -0.1, 0.1), 0.0);
             const double size = log_uniform(random, -3.0, -0.5);
             return free_pair(Pose{}, step(vec(random, 0.2 * size), vec(random, 0.2 * size)), other,
                              step(vec(random, size), vec(random, size)));
         }});
    {
        Scene scene;
        add_free_body(scene, "body", make_box({0.3, 0.2, 0.1}), {0.0, 0.0, 5.0});
        scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
        cases.push_back({"half-space", build_model(scene), [=](Random& random) {
                             Motion motion{VectorXd(7), VectorXd(6)};
                             motion.q << vec(random, 1.0).head<2>(), uniform(random, 0.1, 0.6),
                                 quaternion_from_rotation(exp_rotation(vec(random, 0.5)));
                             motion.delta << vec(random, 0.3), vec(random, 1.0);
                             return motion;
                         }});
    }
    const auto round = round_bodies();
    cases.push_back({"round bodies", round, [=](Random& random) {
                         Motion motion =
                             free_pair(at(small_turn(random, 1.0), {0.0, 0.0, uniform(random, 0.3, 0.8)}),
                                       step(vec(random, 0.2), vec(random, 1.0)),
                                       at(small_turn(random, 1.0), Vector3d(vec(random, 0.3) + Vector3d(0, 0, 0.8))),
                                       step(vec(random, 0.4), vec(random, 2.0)));
                         return motion;
                     }});
    const auto arms = two_arms();
    cases.push_back(
        {"chains", arms, [=](Random& random) {
             Motion motion;
             retract(*arms, arms->default_state().q, 0.6 * normal_vector(random, arms->num_dofs()), motion.q);
             motion.delta = std::pow(10.0, uniform(random, -1.5, 0.0)) * normal_vector(random, arms->num_dofs());
             return motion;
         }});
    return cases;
}

double percentile(std::vector<double> values, double fraction) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

}  // namespace

TEST_CASE("the certified part of a step keeps its gap") {
    for (const bool body_tests : {true, false}) {
        int violations = 0, total = 0;
        for (const Case& hard : hard_cases()) {
            Random random(21);
            Checker checker(*hard.model, FilterOptions{.body_tests = body_tests});
            int done = 0, cut = 0;
            std::vector<double> efficiency;
            for (int trial = 0; trial < 20 * hard.motions * effort() && done < hard.motions * effort(); ++trial) {
                const Motion motion = hard.draw(random);
                if (!checker.run(motion)) continue;
                ++done;
                if (checker.violated(motion, 16)) ++violations;
                if (checker.alpha() >= 1.0) continue;
                ++cut;
                if (body_tests && efficiency.size() < 20)
                    efficiency.push_back(checker.alpha() / std::min(1.0, checker.first_time(motion)));
            }
            total += done;
            if (body_tests) {
                MESSAGE(hard.name << ": " << done << " motions, " << cut << " shortened; alpha/t(keep) p1 "
                                  << percentile(efficiency, 0.01) << ", p10 " << percentile(efficiency, 0.1) << ", p50 "
                                  << percentile(efficiency, 0.5));
                CHECK(done >= hard.motions * effort() / 2);
                if (!efficiency.empty()) CHECK(percentile(efficiency, 0.5) > 0.8);
                for (const double value : efficiency) CHECK(value <= 1.002);
            }
        }
        MESSAGE(total << " motions, body tests " << body_tests << ": " << violations << " violations");
        CHECK(violations == 0);
    }
}

TEST_CASE("without the bounds of bending the checker finds collisions") {
    int violations = 0, total = 0;
    for (const Case& hard : hard_cases()) {
        Random random(22);
        Checker checker(*hard.model, FilterOptions{.curvature_scale = 0.0});
        for (int trial = 0; trial < 60; ++trial) {
            const Motion motion = hard.draw(random);
            if (!checker.run(motion)) continue;
            ++total;
            if (checker.violated(motion, 16)) ++violations;
        }
    }
    MESSAGE(violations << " of " << total << " motions violate their certificate");
    CHECK(violations > total / 50);
}

TEST_CASE("gaps are lower bounds and at least nine tenths of the distance") {
    for (const Case& hard : hard_cases()) {
        Random random(23);
        const CollisionFilter filter(*hard.model, round_geometry(hard.model->collision()), {});
        const auto& bodies = surfaces_of(filter, *hard.model).bodies;
        Kinematics start;
        for (int trial = 0; trial < 10; ++trial) {
            forward_kinematics(*hard.model, hard.model->default_parameters(), hard.draw(random).q, start);
            for (std::size_t p = 0; p < hard.model->collision().pairs.size(); ++p) {
                const auto a = static_cast<std::size_t>(hard.model->collision().pairs[p].a),
                           b = static_cast<std::size_t>(hard.model->collision().pairs[p].b);
                const double brute = brute_distance(bodies[a], start.poses[a], bodies[b], start.poses[b], 1e9);
                const double gap = filter.gap_lower_bound(static_cast<int>(p), start.poses);
                CHECK(gap <= std::max(0.0, brute));
                CHECK(gap >= 0.9 * brute - 1e-13);
            }
        }
    }
}

TEST_CASE("twenty sliding planks keep the full step") {
    Random random(24);
    for (const double gap : {1e-3, 1e-4, 1e-5}) {
        Scene scene;
        double height = 0.1 + gap;
        for (int k = 0; k < 20; ++k, height += 0.2 + gap) {
            add_free_body(scene, "plank " + std::to_string(k), make_box({1.0, 0.2, 0.1}), {0.05 * k, 0.0, height});
        }
        scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
        const auto model = build_model(scene);
        const CollisionFilter filter(*model);
        FilterMemory memory;
        Kinematics start;
        forward_kinematics(*model, model->default_parameters(), model->default_state().q, start);
        int shortened = 0;
        for (int trial = 0; trial < 50; ++trial) {
            const double size = std::pow(10.0, uniform(random, -4.0, -2.0));
            VectorXd delta = VectorXd::Zero(120);
            for (int k = 0; k < 20; ++k) {
                delta[6 * k] = size * normal(random);
                delta[6 * k + 1] = size * normal(random);
                delta[6 * k + 5] = size * normal(random);
            }
            const CollisionFilter::Result result = filter.max_step(start, delta, {}, memory);
            shortened += result.alpha < 1.0;
            CHECK(result.certified_gap >= 0.1 * 0.89 * gap);
        }
        CHECK(shortened == 0);
    }
}

TEST_CASE("a thin plate at 60 m/s does not pass") {
    Random random(25);
    for (const double thickness : {0.0, 5e-4}) {
        const TriangleMesh plate = thickness > 0.0 ? make_box({0.5, 0.4, thickness}) : make_sheet(0.5, 0.4);
        const auto model = two_bodies(plate, plate);
        Checker checker(*model, {});
        for (int jitter = 0; jitter < 10; ++jitter) {  // 60 m/s for 10 ms, from 0.1 m away
            const Pose above{exp_rotation(0.01 * Vector3d(normal_vector(random, 3))),
                             {0.01 * normal(random), 0.0, 0.1}};
            const Motion motion = free_pair(Pose{}, Vector6d::Zero(), above,
                                            step({0.0, 0.0, -0.6}, 0.1 * Vector3d(normal_vector(random, 3))));
            REQUIRE(checker.run(motion));
            CHECK(checker.alpha() > 0.05);
            CHECK(checker.alpha() < 0.1 / 0.6);
            CHECK_FALSE(checker.violated(motion, 50));
            CHECK(checker.result().limiting_a == 1);
            CHECK(checker.result().limiting_b == 2);
        }
    }
}

TEST_CASE("a detour is a way that no screw leads along") {
    const TriangleMesh plate = make_box({0.5, 0.4, 5e-4});
    const auto model = two_bodies(plate, plate);
    const CollisionFilter filter(*model);
    FilterMemory memory;
    Random random(27);
    const auto detour = [&](const Pose& a0, const Pose& b0, const Pose& a1, const Pose& b1) {
        return filter.find_detour({Pose{}, a0, b0}, {Pose{}, a1, b1}, memory).has_value();
    };
    for (int round = 0; round < 50; ++round) {
        const auto tilt = [&](double size) { return exp_rotation(size * Vector3d(normal_vector(random, 3))); };
        const Pose start{tilt(0.03), {0.0, 0.0, 0.2}}, through{tilt(0.03), {0.0, 0.0, -0.3}};
        CHECK(detour(Pose{}, start, Pose{}, through));
        CHECK(detour(start, Pose{}, through, Pose{}));
        CHECK_FALSE(detour(Pose{}, start, Pose{}, {tilt(0.03), {0.3, 0.2, 0.15}}));
        CHECK_FALSE(detour(Pose{}, start, Pose{}, {through.rotation, {2.5, 0.0, -0.05}}));
        // two that turn together, 1e-5 m apart, as a stack does
        const Pose close{Eigen::Matrix3d::Identity(), {0.1, 0.0, 1.01e-3}};
        const Pose turn{tilt(0.3), normal_vector(random, 3)};
        CHECK_FALSE(detour(Pose{}, close, turn, turn * close));
        // tilting about an edge
        const Eigen::Matrix3d about_y = exp_rotation({0.0, 0.2, 0.0});
        const Vector3d edge(0.6, 0.0, 5.1e-4);
        CHECK_FALSE(detour(Pose{}, close, Pose{}, Pose{about_y, edge + about_y * (close.position - edge)}));
        // shorter steps end there, too, up to a tenth of the radius: no detour; or on the other side: one
        const double radius = std::hypot(0.5, 0.4);
        const auto with_pieces = [&](double aside) {
            const Poses pieces{Pose{}, Pose{}, {through.rotation, through.position + Vector3d(aside, 0.0, 0.0)}};
            return filter.find_detour({Pose{}, Pose{}, start}, {Pose{}, Pose{}, through}, memory, &pieces).has_value();
        };
        CHECK_FALSE(with_pieces(0.09 * radius));
        CHECK(with_pieces(0.11 * radius));
    }
}

TEST_CASE("the result depends on nothing but its inputs") {
    for (const Case& hard : hard_cases()) {
        Random random(26);
        const CollisionFilter filter(*hard.model), again(*hard.model);
        FilterMemory first, second;
        Kinematics start;
        for (int trial = 0; trial < 20; ++trial) {
            const Motion motion = hard.draw(random);
            forward_kinematics(*hard.model, hard.model->default_parameters(), motion.q, start);
            const auto one = filter.max_step(start, motion.delta, {}, first),
                       two = again.max_step(start, motion.delta, {}, second);
            CHECK(one.alpha == two.alpha);
            CHECK(one.certified_gap == two.certified_gap);
        }
    }
}

}  // namespace farfield
