// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/predicates.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "farfield/base/random.hpp"

using namespace farfield;
using Eigen::Vector2d;
using Eigen::Vector3d;

namespace {

/// Integer coordinates up to 2^20: the determinant fits 128 bits, so this sign is exact.
int integer_sign(const Vector3d& a, const Vector3d& b, const Vector3d& c, const Vector3d& d) {
    __extension__ using Wide = __int128;
    const auto wide = [](double x) { return static_cast<Wide>(static_cast<long long>(x)); };
    Wide m[3][3];
    const Vector3d* rows[3] = {&b, &c, &d};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) m[i][j] = wide((*rows[i])(j)) - wide(a(j));
    }
    const Wide value = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    return value > 0 ? 1 : (value < 0 ? -1 : 0);
}

}  // namespace

TEST_CASE("orientation: sign convention") {
    const Vector3d o = Vector3d::Zero(), x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
    CHECK(orientation(o, x, y, z) == 1);
    CHECK(orientation(o, y, x, z) == -1);
    CHECK(orientation(o, x, y, Vector3d(0.3, 0.4, 0.0)) == 0);
    CHECK(orientation(Vector2d(0, 0), Vector2d(1, 0), Vector2d(0, 1)) == 1);
    CHECK(orientation(Vector2d(0, 0), Vector2d(0, 1), Vector2d(1, 0)) == -1);
    CHECK(orientation(Vector2d(0, 0), Vector2d(1, 1), Vector2d(3, 3)) == 0);
}

TEST_CASE("orientation: exact on integer points, many of them nearly coplanar") {
    Random random(1);
    int zero = 0, uncertain = 0;
    for (int i = 0; i < 20000; ++i) {
        const auto integer = [&] { return std::floor(uniform(random, -1048576.0, 1048576.0)); };
        Vector3d x[4];
        for (Vector3d& point : x) point = Vector3d(integer(), integer(), integer());
        if (i % 2 == 0) {  // the fourth next to the plane of the others
            const double k = std::floor(uniform(random, -3.0, 3.0)), l = std::floor(uniform(random, -3.0, 3.0));
            x[3] = x[0] + k * (x[1] - x[0]) + l * (x[2] - x[0]);
            x[3](i % 3) += std::floor(uniform(random, -1.0, 2.0));
        }
        const int exact = integer_sign(x[0], x[1], x[2], x[3]);
        zero += exact == 0;
        // Scaled by a power of two and shifted far away: same sign, but hard for rounded arithmetic.
        const int sign = orientation(x[0], x[1], x[2], x[3]);
        CHECK(sign == exact);
        const Vector3d shift = 0x1.0p40 * Vector3d(1, -1, 1);
        for (Vector3d& point : x) point = 0x1.0p-7 * (point + shift);
        CHECK(orientation(x[0], x[1], x[2], x[3]) == exact);
        uncertain += exact != 0 && i % 2 == 0;
    }
    CHECK(zero > 1000);
    CHECK(uncertain > 1000);
}

TEST_CASE("orientation: points one unit in the last place off a plane or line") {
    Random random(2);
    for (int i = 0; i < 2000; ++i) {
        // All points in the plane z = 1/3; then one is moved by one unit in the last place.
        const double z = 1.0 / 3.0;
        Vector3d x[4];
        for (Vector3d& point : x) point = Vector3d(uniform(random), uniform(random), z);
        const int turn = orientation(Vector2d(x[0].head<2>()), Vector2d(x[1].head<2>()), Vector2d(x[2].head<2>()));
        CHECK(turn != 0);
        CHECK(orientation(x[0], x[1], x[2], x[3]) == 0);
        x[3].z() = std::nextafter(z, 1.0);
        CHECK(orientation(x[0], x[1], x[2], x[3]) == turn);
        x[3].z() = std::nextafter(z, 0.0);
        CHECK(orientation(x[0], x[1], x[2], x[3]) == -turn);
        // Even permutations keep the sign, odd ones turn it.
        CHECK(orientation(x[1], x[2], x[0], x[3]) == -turn);
        CHECK(orientation(x[0], x[1], x[3], x[2]) == turn);
        CHECK(orientation(x[3], x[0], x[1], x[2]) == turn);
    }
    const Vector2d a(12.0, 12.0), b(24.0, 24.0);
    for (int i = 0; i < 256; ++i) {
        for (int j = 0; j < 256; ++j) {
            const Vector2d p(0.5 + i * 0x1.0p-53, 0.5 + j * 0x1.0p-53);  // around the line y = x
            CHECK_MESSAGE(orientation(p, a, b) == (p.y() > p.x() ? 1 : (p.y() < p.x() ? -1 : 0)), i, " ", j);
        }
    }
}
