// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/shape.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "farfield/base/random.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using namespace farfield::grains;
using farfield::testing::contains;
using farfield::testing::error_of;

TEST_SUITE("grains") {
    TEST_CASE("grains shape: area and inertia of known bodies") {
        const GrainShape block = block_shape(3.0, 2.0);
        CHECK(block.area == doctest::Approx(6.0).epsilon(1e-14));
        CHECK(block.gyration2 == doctest::Approx((9.0 + 4.0) / 12.0).epsilon(1e-14));
        CHECK(block.radius == doctest::Approx(std::hypot(1.5, 1.0)).epsilon(1e-14));
        CHECK(block.symmetry == 2);
        // A frame: the difference of two squares, off centre on purpose.
        const GrainShape frame = make_shape("frame", {{{{9, 9}, {13, 9}, {13, 13}, {9, 13}},  //
                                                       {{10, 10}, {10, 12}, {12, 12}, {12, 10}}}});
        CHECK(frame.area == doctest::Approx(12.0).epsilon(1e-14));
        CHECK(frame.gyration2 == doctest::Approx((16.0 * 32.0 / 12.0 - 4.0 * 8.0 / 12.0) / 12.0).epsilon(1e-14));
        CHECK(frame.outline.rings[0][0].isApprox(Eigen::Vector2d(-2.0, -2.0), 1e-14));
        CHECK(frame.symmetry == 4);
    }

    TEST_CASE("grains shape: library outlines are valid, centred and of unit circumradius") {
        Random random(5);
        for (const std::string& name : library_names()) {
            CAPTURE(name);
            const GrainShape shape = library_shape(name);
            validate(shape.outline, name);
            CHECK(shape.radius == doctest::Approx(1.0).epsilon(1e-12));
            const AreaMoments moments = area_moments(shape.outline);
            CHECK(moments.centroid.norm() < 1e-12);
            CHECK(moments.polar / moments.area == doctest::Approx(shape.gyration2).epsilon(1e-12));
            // Monte Carlo area: 3 sigma of 20,000 draws in the circumscribed square.
            int inside = 0;
            for (int k = 0; k < 20000; ++k) {
                inside += contains(shape.outline, Eigen::Vector2d(uniform(random, -1, 1), uniform(random, -1, 1)));
            }
            CHECK(4.0 * inside / 20000.0 == doctest::Approx(shape.area).epsilon(0.12));
            CHECK(outline_hash(scaled(shape, 0.37)) == outline_hash(shape));
        }
        CHECK(library_shape("#").symmetry == 4);
        CHECK(library_shape("star").symmetry == 5);
        CHECK(library_shape("octagon").symmetry == 8);
        CHECK(library_shape("U").symmetry == 1);
        CHECK(library_shape("N").symmetry == 2);
        CHECK(outline_hash(library_shape("U")) != outline_hash(library_shape("N")));
    }

    TEST_CASE("grains shape: bad outlines are named") {
        const auto said = [](const Polygon& polygon) { return error_of([&] { (void)make_shape("x", polygon); }); };
        CHECK(contains(said({{{{0, 0}, {1, 1}, {1, 0}, {0, 1.5}}}}), "self-intersecting"));
        CHECK(contains(said({{{{0, 0}, {0, 1}, {1, 1}, {1, 0}}}}), "shape 'x': outer ring: clockwise"));
        CHECK(contains(said({{{{0, 0}, {1, 1}, {2, 2}}}}), "zero area"));
        CHECK(contains(said({{{{0, 0}, {1, 1}}}}), "2 points, expected at least 3"));
        CHECK(contains(said({{{{0, 0}, {1, 0}, {std::numeric_limits<double>::quiet_NaN(), 1}}}}), "not finite"));
        CHECK(contains(said({{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}, {{1, 1}, {3, 1}, {3, 3}, {1, 3}}}}),
                       "hole 1: counter-clockwise"));
        CHECK(contains(said({{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}, {{5, 1}, {5, 3}, {7, 3}, {7, 1}}}}), "outside"));
        CHECK(contains(said({{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}, {{3, 1}, {3, 3}, {7, 3}, {7, 1}}}}), "crosses ring 0"));
        CHECK(contains(said({}), "no points"));
        CHECK(contains(error_of([] { (void)library_shape("Q"); }), "shape 'Q' is unknown, expected one of: O U N"));
        CHECK(contains(error_of([] { (void)library_shape("L", -1.0); }), "radius -1"));
    }
}
