// SPDX-License-Identifier: Apache-2.0
/// @file  Which bodies may meet, and that every pair left out is listed with its reason.
#include "farfield/model/contact_pairs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/error_text.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using Texts = std::vector<std::string>;

Body body(const std::string& name, int parent, std::vector<Joint> joints, const Vector3d& position = Vector3d::Zero()) {
    const Moments unit = moments_from_inertia(1.0, Vector3d::Zero(), 0.1 * Eigen::Matrix3d::Identity(), "unit");
    return Body{.name = name, .parent = parent, .position = position, .joints = std::move(joints), .moments = unit};
}

Joint joint(const std::string& name, JointType type) { return Joint{.name = name, .type = type}; }

Shape box(const std::string& name, int owner, double half = 0.1) {
    return Shape{.name = name, .body = owner, .type = ShapeType::Box, .size = Vector3d::Constant(half)};
}

bool has(const Texts& list, const std::string& text) { return std::find(list.begin(), list.end(), text) != list.end(); }

/// World, a fixed-base arm of three links (hinges), and a free box away from it. Each body has a box; links do not overlap.
Scene arm_and_box() {
    Scene scene;
    scene.bodies.push_back(body("one", 0, {joint("one", JointType::Hinge)}, {1.0, 0.0, 0.0}));
    scene.bodies.push_back(body("two", 1, {joint("two", JointType::Hinge)}, {1.0, 0.0, 0.0}));
    scene.bodies.push_back(body("three", 2, {joint("three", JointType::Hinge)}, {1.0, 0.0, 0.0}));
    scene.bodies.push_back(body("box", 0, {joint("box", JointType::Free)}, {0.0, 5.0, 0.0}));
    scene.shapes = {box("w", 0), box("1", 1), box("2", 2), box("3", 3), box("b", 4)};
    return scene;
}

std::vector<std::pair<int, int>> pairs(const Model& model) {
    std::vector<std::pair<int, int>> out;
    for (const ContactPair& pair : model.collision().pairs) out.emplace_back(pair.a, pair.b);
    return out;
}

using Pairs = std::vector<std::pair<int, int>>;

TEST_CASE("contact pairs: joined bodies are left out and listed; the rest may meet") {
    const auto model = build_model(arm_and_box());
    CHECK(pairs(*model) == Pairs{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 3}, {1, 4}, {2, 4}, {3, 4}});
    CHECK(model->excluded_pairs() == Texts{"one, two: joined", "two, three: joined"});
    CHECK(model->warnings().empty());
}

TEST_CASE("contact pairs: a welded part is joined to what its carrier is joined to, and never meets its carrier") {
    Scene scene = arm_and_box();
    scene.bodies.push_back(Body{.name = "tool", .parent = 2, .position = {0.0, 0.0, 0.5}, .motion = BodyMotion::Fixed});
    scene.shapes.push_back(box("t", 5));
    const auto model = build_model(scene);
    const Pairs all = pairs(*model);
    const auto meets = [&](int a, int b) { return std::find(all.begin(), all.end(), std::pair(a, b)) != all.end(); };
    CHECK(has(model->excluded_pairs(), "one, tool: joined"));
    CHECK(has(model->excluded_pairs(), "three, tool: joined"));
    CHECK(has(model->excluded_pairs(), "two, tool: welded together"));
    CHECK_FALSE(meets(2, 5));
    CHECK(meets(4, 5));
    CHECK(meets(0, 5));
}

TEST_CASE("contact pairs: the user's lists come first") {
    Scene scene = arm_and_box();
    scene.exclude_contacts = {{"box", "three"}, {"two", "three"}};
    scene.include_contacts = {{"two", "one"}, {"two", "three"}};
    const auto model = build_model(scene);
    CHECK(pairs(*model) == Pairs{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}});
    CHECK(model->excluded_pairs() == Texts{"three, box: excluded by the user"});
}

TEST_CASE("contact pairs: links of one tree are near by default, everything else is not") {
    Scene scene = arm_and_box();
    const auto near = [](const Model& model) {
        Pairs out;
        for (const ContactPair& pair : model.collision().pairs) {
            if (pair.near) out.emplace_back(pair.a, pair.b);
        }
        return out;
    };
    CHECK(near(*build_model(scene)) == Pairs{{1, 3}});
    scene.self_contact = ContactPolicy::All;
    CHECK(near(*build_model(scene)).empty());
    scene.pair_contact = {{"box", "three", ContactPolicy::Near},
                          {"world", "box", ContactPolicy::Near},
                          {"box", "world", ContactPolicy::None},
                          {"two", "three", ContactPolicy::All}};  // joined: stays out
    const auto model = build_model(scene);
    CHECK(near(*model) == Pairs{{3, 4}});
    CHECK(has(model->excluded_pairs(), "world, box: contact policy 'none'"));
    CHECK(has(model->excluded_pairs(), "two, three: joined"));
    scene.self_contact = ContactPolicy::None;
    CHECK(has(build_model(scene)->excluded_pairs(), "one, three: contact policy 'none'"));
    scene.include_contacts = {{"one", "three"}};
    CHECK_FALSE(has(build_model(scene)->excluded_pairs(), "one, three: contact policy 'none'"));
}

TEST_CASE("contact pairs: groups") {
    Scene scene = arm_and_box();
    for (Shape& shape : scene.shapes) shape.collides_with = 0;  // only the box asks to meet group 1
    scene.shapes[4].group = 2;
    scene.shapes[4].collides_with = 1;
    scene.shapes[3].group = 4;
    const auto model = build_model(scene);
    CHECK(pairs(*model) == Pairs{{0, 4}, {1, 4}, {2, 4}});
    CHECK(has(model->excluded_pairs(), "three, box: groups do not match"));
}

TEST_CASE("contact pairs: overlaps within a machine are left out, overlapping free bodies stay and are warned of") {
    Scene scene = arm_and_box();
    scene.shapes[3].size = {2.5, 0.05, 0.05};  // link three reaches back through one, and into the world's box
    scene.bodies[4].position = {1.0, 0.15, 0.0};
    const auto model = build_model(scene);
    CHECK(has(model->excluded_pairs(), "one, three: overlap in the reference pose"));
    const Pairs all = pairs(*model);
    CHECK(std::find(all.begin(), all.end(), std::pair(1, 3)) == all.end());
    CHECK(std::find(all.begin(), all.end(), std::pair(1, 4)) != all.end());
    CHECK(std::any_of(model->warnings().begin(), model->warnings().end(), [](const std::string& text) {
        return testing::contains(text, "bodies 'one' and 'box' overlap in the reference pose near (");
    }));
    SUBCASE("an overlap the user includes stays, with a warning") {
        scene.include_contacts = {{"one", "three"}};
        const auto included = build_model(scene);
        const Pairs kept = pairs(*included);
        CHECK(std::find(kept.begin(), kept.end(), std::pair(1, 3)) != kept.end());
        CHECK(std::any_of(included->warnings().begin(), included->warnings().end(), [](const std::string& text) {
            return testing::contains(text, "'one' and 'three' overlap in the reference pose");
        }));
    }
    SUBCASE("a half-space belongs to no machine: whatever starts in it is warned of") {
        Scene ground = arm_and_box();
        ground.shapes[0] =
            Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace, .position = {0.0, 0.0, -0.5}};
        ground.shapes[3].size = {0.1, 0.1, 0.8};
        ground.bodies[4].position.z() = -0.55;
        const auto sunk = build_model(ground);
        CHECK(sunk->excluded_pairs() == Texts{"one, two: joined", "two, three: joined"});
        CHECK(testing::contains(sunk->warnings().at(0), "bodies 'world' and 'three' overlap"));
        CHECK(testing::contains(sunk->warnings().at(1), "bodies 'world' and 'box' overlap"));
    }
}

/// A table and a wall fixed to the world, a press that slides on the table, a gantry that slides on the world.
Scene workshop() {
    Scene scene;
    scene.bodies.push_back(Body{.name = "table", .motion = BodyMotion::Fixed});
    scene.bodies.push_back(Body{.name = "wall", .position = {3.0, 0.0, 0.0}, .motion = BodyMotion::Fixed});
    scene.bodies.push_back(body("press", 1, {joint("press", JointType::Slide)}, {0.0, 0.0, 1.0}));
    scene.bodies.push_back(body("gantry", 0, {joint("gantry", JointType::Slide)}, {2.0, 0.0, 0.0}));
    scene.shapes = {box("table", 1), box("wall", 2), box("press", 3), box("gantry", 4)};
    return scene;
}

TEST_CASE("contact pairs: a joint to the world, or to what is welded to it, leaves nothing out") {
    for (const JointType type : {JointType::Slide, JointType::Hinge, JointType::Ball, JointType::Universal}) {
        Scene scene = workshop();
        scene.bodies[3].joints[0].type = scene.bodies[4].joints[0].type = type;
        const auto model = build_model(scene);
        CHECK(pairs(*model) == Pairs{{1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}});
        CHECK(model->excluded_pairs().empty());
        CHECK(model->warnings().empty());
    }
}

TEST_CASE("contact pairs: overlaps are left out in one tree only") {
    Scene scene = workshop();
    scene.shapes[2].size.z() = 1.0;  // the press reaches into its table, the gantry into the wall
    scene.shapes[3].size.x() = 1.0;
    const auto model = build_model(scene);
    CHECK(model->excluded_pairs() == Texts{"table, press: overlap in the reference pose"});
    CHECK(pairs(*model) == Pairs{{1, 4}, {2, 3}, {2, 4}, {3, 4}});
    REQUIRE(model->warnings().size() == 1);
    CHECK(testing::contains(model->warnings()[0], "bodies 'wall' and 'gantry' overlap in the reference pose near ("));
    CHECK(testing::contains(model->warnings()[0], "exclude the pair if they belong together"));
    scene.include_contacts = {{"press", "table"}};
    scene.exclude_contacts = {{"wall", "gantry"}};
    const auto chosen = build_model(scene);
    CHECK(chosen->excluded_pairs() == Texts{"wall, gantry: excluded by the user"});
    CHECK(pairs(*chosen) == Pairs{{1, 3}, {1, 4}, {2, 3}, {3, 4}});
}

TEST_CASE("contact pairs: an inclusion that cannot act is warned of") {
    Scene scene = workshop();
    scene.bodies.push_back(body("bare", 0, {joint("bare", JointType::Free)}));
    scene.bodies.push_back(Body{.name = "knob", .parent = 3, .position = {0.5, 0.0, 0.0}, .motion = BodyMotion::Fixed});
    scene.shapes.push_back(box("knob", 6));
    scene.include_contacts = {{"table", "wall"}, {"bare", "press"}, {"press", "knob"}};
    const auto model = build_model(scene);
    CHECK(model->warnings() ==
          Texts{"bodies 'table' and 'wall' are included among the contacts, but cannot move relative to each other",
                "bodies 'press' and 'bare' are included among the contacts, but have no surfaces that could touch",
                "bodies 'press' and 'knob' are included among the contacts, but cannot move relative to each other"});
    CHECK(model->excluded_pairs() == Texts{"press, knob: welded together"});
}

TEST_CASE("contact pairs: a pair rubs with the larger coefficient") {
    Scene scene = arm_and_box();
    scene.shapes[4].friction = 0.3;
    scene.shapes[1].friction = 0.2;
    scene.shapes.push_back(box("rough", 2));
    scene.shapes.back().friction = 0.9;
    Shape drawn = box("drawn", 4);
    drawn.collides = false;
    drawn.friction = 5.0;
    scene.shapes.push_back(drawn);
    const auto model = build_model(scene);
    CHECK(model->default_parameters().friction[2] == 0.9);
    CHECK(model->default_parameters().friction[4] == 0.3);
}

}  // namespace
}  // namespace farfield
