// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/point_columns.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <vector>

using namespace farfield;

TEST_CASE("point columns: the support is the first of the largest, to the bit, for any number of points") {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> coordinate(-3, 3);  // few values, so that many points tie
    std::uniform_real_distribution<double> real(-1.0, 1.0);
    for (int size = 1; size <= 70; ++size) {
        for (const bool ties : {false, true}) {
            std::vector<double> x, y, z;
            for (int i = 0; i < size; ++i) {
                for (auto* column : {&x, &y, &z}) column->push_back(ties ? coordinate(random) : real(random));
            }
            const PointColumns points{x.data(), y.data(), z.data(), size};
            const Eigen::Vector3d n = ties ? Eigen::Vector3d(coordinate(random), 1.0, coordinate(random))
                                           : Eigen::Vector3d(real(random), real(random), real(random));
            double best = -std::numeric_limits<double>::infinity();
            int first = -1;
            for (int i = 0; i < size; ++i) {
                const Eigen::Vector3d p = points.point(i);
                const double value = n.x() * p.x() + n.y() * p.y() + n.z() * p.z();
                if (value > best) best = value, first = i;
            }
            CAPTURE(size);
            int index = -1;
            CHECK(points.support(n, index) == best);
            CHECK(index == first);
            CHECK(points.support(n) == best);
        }
    }
}
