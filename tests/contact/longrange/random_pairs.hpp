// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Seeded families of triangle pairs with a known gap, placed in a world far from its origin.
///
/// Each pair is drawn in a frame whose z axis is the separating direction, so that the distance is `gap` by
/// construction, and is then moved as bodies are: vertices X in a body frame, x = R X + (t - o) with o near the pair
/// and t up to 1e6 m.
#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <cstdint>

#include "farfield/base/random.hpp"
#include "farfield/contact/longrange/pair_potential.hpp"

namespace farfield::contact::longrange::testing {

enum class Family { General, VertexFace, EdgeEdge, ParallelFaces, Coplanar, Sliver, WorldOffset };
inline constexpr std::array kFamilies{Family::General,  Family::VertexFace, Family::EdgeEdge,   Family::ParallelFaces,
                                      Family::Coplanar, Family::Sliver,     Family::WorldOffset};
inline const char* name_of(Family family) {
    constexpr std::array names{"general",  "vertex-face", "edge-edge",   "parallel faces",
                               "coplanar", "sliver",      "world offset"};
    return names[static_cast<size_t>(family)];
}

struct RandomPair {
    TrianglePair x;     ///< relative to the mean of the six vertices
    double gap = 0.0;   ///< distance of the triangles before rounding
    double size = 0.0;  ///< edge length
};

class PairGenerator {
 public:
    explicit PairGenerator(uint64_t seed) : random_(seed) {}

    RandomPair draw(Family family) {
        RandomPair pair;
        pair.gap = std::pow(10.0, uniform(-6.0, 3.0));
        pair.size = std::pow(10.0, uniform(-2.0, 1.0));
        TrianglePair local = shape(family, pair.gap, pair.size);
        const Eigen::Matrix3d turn = rotation();
        const double far = family == Family::WorldOffset ? std::pow(10.0, uniform(3.0, 6.0)) : 0.0;
        pair.x = place(turn * local, far);
        return pair;
    }

    double uniform(double low, double high) { return farfield::uniform(random_, low, high); }
    Eigen::Matrix3d rotation() { return random_rotation(random_); }

 private:
    // Columns 0-2 above z = gap/2, 3-5 below z = -gap/2, the closest features facing each other through the origin.
    TrianglePair shape(Family family, double gap, double size) {
        if (family == Family::WorldOffset) family = kFamilies[static_cast<size_t>(uniform_index(random_, 6))];
        TrianglePair x;
        for (int k = 0; k < 6; ++k)
            x.col(k) = size * Eigen::Vector3d(uniform(-1, 1), uniform(-1, 1), k < 3 ? uniform(0, 1) : uniform(-1, 0));
        switch (family) {
            case Family::General:
            case Family::WorldOffset:
                x.col(0).setZero(), x.col(3).setZero();
                break;
            case Family::VertexFace:
                vertex_over_face(x, size);
                break;
            case Family::EdgeEdge:
                cross_edges(x);
                break;
            case Family::ParallelFaces:
                overlap(x, size);
                x.leftCols<3>().colwise() -= x.leftCols<3>().rowwise().mean().eval();
                x.row(2).setZero();
                break;
            case Family::Coplanar:
                x.row(0) *= 1e-16;
                x.col(0).setZero(), x.col(3).setZero();
                break;
            case Family::Sliver:
                sliver(x, size);
                break;
        }
        x.block<1, 3>(2, 0).array() += 0.5 * gap;
        x.block<1, 3>(2, 3).array() -= 0.5 * gap;
        return x;
    }

    void vertex_over_face(TrianglePair& x, double size) {
        x.block<1, 3>(2, 3).setZero();
        overlap(x, size);
        x.col(0).setZero();
    }

    // Two edges through the origin at height 0, turned against each other: from nearly parallel to right angles.
    void cross_edges(TrianglePair& x) {
        const double angle = std::pow(10.0, uniform(-6.0, 0.19)), a = uniform(0.1, 1.0), b = uniform(0.1, 1.0);
        const double size = x.cwiseAbs().maxCoeff();
        const Eigen::Vector3d u(size, 0, 0), v(size * std::cos(angle), size * std::sin(angle), 0);
        x.col(0) = a * u, x.col(1) = -b * u, x.col(3) = a * v, x.col(4) = -b * v;
    }

    // B's triangle (flat, at z = 0) contains the origin.
    void overlap(TrianglePair& x, double size) {
        const double turn = uniform(0.0, 6.28);
        for (int k = 3; k < 6; ++k) {
            const double angle = turn + 2.094 * (k - 3) + uniform(-0.3, 0.3), radius = size * uniform(0.3, 1.0);
            x.col(k) = Eigen::Vector3d(radius * std::cos(angle), radius * std::sin(angle), 0.0);
        }
    }

    // Heights shrunk to 1e-3 .. 1e-8 of the edge, one or both triangles.
    void sliver(TrianglePair& x, double size) {
        x.col(0).setZero(), x.col(3).setZero();
        for (const int first : {0, 3}) {
            if (first == 3 && uniform(0, 1) < 0.5) continue;
            const double thin = size * std::pow(10.0, uniform(-8.0, -3.0)), side = first == 0 ? 1.0 : -1.0;
            const double t = uniform(0, 1);
            x.col(first + 2) = (1 - t) * x.col(first) + t * x.col(first + 1) +
                               thin * Eigen::Vector3d(uniform(-1, 1), uniform(-1, 1), side * uniform(0, 1));
        }
    }

    // Splits the points into body poses (R, t) and body coordinates X, and forms R X + (t - o) as an engine does.
    TrianglePair place(const TrianglePair& points, double far) {
        const Eigen::Vector3d origin = far * rotation().col(0);
        TrianglePair out;
        for (const int first : {0, 3}) {
            const Eigen::Matrix3d r = rotation();
            const Eigen::Vector3d t = origin + points.col(first) + rotation().col(0) * uniform(0.0, 1.0);
            const Eigen::Vector3d shift = t - origin;
            for (int k = first; k < first + 3; ++k) {
                const Eigen::Vector3d body = r.transpose() * (points.col(k) - shift);
                out.col(k) = r * body + shift;
            }
        }
        return out.colwise() - pair_origin(out);
    }

    Random random_;
};

}  // namespace farfield::contact::longrange::testing
