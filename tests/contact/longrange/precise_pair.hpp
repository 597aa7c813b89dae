// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The pair potential in long double, straight from its formulas: the yardstick for rounding in both double
/// solvers.
#include <Eigen/Dense>
#include <cmath>

#include "farfield/contact/longrange/pair_potential.hpp"

namespace farfield::contact::longrange::testing {

using Precise = long double;
using PreciseVector4 = Eigen::Matrix<Precise, 4, 1>;
using PreciseMatrix4 = Eigen::Matrix<Precise, 4, 4>;

struct PrecisePair {
    Eigen::Matrix<Precise, 3, 6> x;
    PreciseVector4 plane;  ///< (n, d)
    Eigen::Matrix<Precise, 6, 1> s;
    PreciseVector4 gradient;
    PreciseMatrix4 hessian;
    Precise value = 0;

    static Precise sigma(int k) { return k < 3 ? 1 : -1; }

    bool evaluate(const PreciseVector4& p) {
        plane = p;
        const Eigen::Matrix<Precise, 3, 1> n = p.head<3>();
        const Precise length = n.norm(), w = 1 / (1 - length), a = 12 * w * w / length;
        if (!(length < 1)) return false;
        value = 12 * w;
        gradient << a * n, 0;
        hessian.setZero();
        hessian.topLeftCorner<3, 3>() = (24 * w * w * w - a) / (length * length) * n * n.transpose();
        hessian.diagonal().head<3>().array() += a;
        for (int k = 0; k < 6; ++k) {
            s[k] = sigma(k) * (n.dot(x.col(k)) + p[3]);
            if (!(s[k] > 0)) return false;
            const Precise r = 1 / s[k];
            PreciseVector4 y;
            y << x.col(k), 1;
            value += r;
            gradient -= sigma(k) * r * r * y;
            hessian += 2 * r * r * r * y * y.transpose();
        }
        return true;
    }
};

/// Newton from a nearly optimal plane until the decrement stops falling.
inline PrecisePair precise_pair(const TrianglePair& x, const Plane& plane) {
    PrecisePair pair;
    pair.x = x.cast<Precise>();
    PreciseVector4 p;
    p << plane.normal.cast<Precise>(), static_cast<Precise>(plane.offset);
    pair.evaluate(p);
    Precise previous = std::numeric_limits<Precise>::infinity();
    for (int i = 0; i < 30; ++i) {
        const PreciseVector4 step = -pair.hessian.ldlt().solve(pair.gradient);
        const Precise decrement = -pair.gradient.dot(step);
        if (!(decrement < previous)) break;
        previous = decrement;
        PrecisePair next = pair;
        if (!next.evaluate(pair.plane + step)) break;
        pair = next;
    }
    return pair;
}

/// leaf_derivatives in long double, with arms = x.
struct PreciseLeaf {
    Eigen::Matrix<Precise, 6, 1> gradient;
    Eigen::Matrix<Precise, 6, 6> material;
};
inline PreciseLeaf precise_leaf(const PrecisePair& pair, const TrianglePair& arms) {
    const Eigen::Matrix<Precise, 3, 1> n = pair.plane.head<3>();
    PreciseLeaf leaf;
    leaf.gradient.setZero();
    leaf.material.setZero();
    Eigen::Matrix<Precise, 6, 4> c6 = Eigen::Matrix<Precise, 6, 4>::Zero();
    for (int k = 0; k < 3; ++k) {
        const Precise r = 1 / pair.s[k], r2 = r * r, r3 = 2 * r2 * r;
        const Eigen::Matrix<Precise, 3, 1> arm = arms.col(k).cast<Precise>();
        Eigen::Matrix<Precise, 6, 1> q;
        q << n, arm.cross(n);
        leaf.gradient -= r2 * q;
        leaf.material += r3 * q * q.transpose();
        Eigen::Matrix<Precise, 3, 4> c = Eigen::Matrix<Precise, 3, 4>::Zero();
        c.leftCols<3>() = r3 * n * pair.x.col(k).transpose();
        c.leftCols<3>().diagonal().array() -= r2;
        c.col(3) = r3 * n;
        c6.topRows<3>() += c;
        for (int j = 0; j < 4; ++j) c6.col(j).tail<3>() += arm.cross(c.col(j));
    }
    leaf.material -= c6 * pair.hessian.ldlt().solve(c6.transpose());
    return leaf;
}

}  // namespace farfield::contact::longrange::testing
