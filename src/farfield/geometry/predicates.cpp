// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/predicates.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace farfield {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

int sign_of(double value) { return value > 0.0 ? 1 : (value < 0.0 ? -1 : 0); }

/// A number as an unevaluated sum of doubles that do not overlap, smallest first: the sign is that of the last.
template <int Capacity>
class ExactSum {
 public:
    void add(double term) {
        int kept = 0;
        for (int i = 0; i < count_; ++i) {
            const auto [sum, rest] = two_sum(term, parts_[static_cast<std::size_t>(i)]);
            if (rest != 0.0) parts_[static_cast<std::size_t>(kept++)] = rest;
            term = sum;
        }
        if (term != 0.0) parts_[static_cast<std::size_t>(kept++)] = term;
        count_ = kept;
    }
    void add_product(double x, double y) {
        const auto [product, rest] = two_product(x, y);
        add(rest);
        add(product);
    }
    void add_product(double x, double y, double z) {
        const auto [product, rest] = two_product(x, y);
        add_product(rest, z);
        add_product(product, z);
    }
    [[nodiscard]] int sign() const { return count_ == 0 ? 0 : sign_of(parts_[static_cast<std::size_t>(count_ - 1)]); }

 private:
    static std::pair<double, double> two_sum(double x, double y) {
        const double sum = x + y, y_part = sum - x;
        return {sum, (x - (sum - y_part)) + (y - y_part)};
    }
    static std::pair<double, double> two_product(double x, double y) {
        const double product = x * y;
        return {product, std::fma(x, y, -product)};
    }

    std::array<double, Capacity + 1> parts_{};
    int count_ = 0;
};

/// det(p, q, r) added with the sign of `factor` (+1 or -1).
template <class Sum>
void add_determinant(Sum& sum, double factor, const Eigen::Vector3d& p, const Eigen::Vector3d& q,
                     const Eigen::Vector3d& r) {
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        sum.add_product(factor * p(i), q(j), r(k));
        sum.add_product(-factor * p(i), q(k), r(j));
    }
}

}  // namespace

int orientation(const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c,
                const Eigen::Vector3d& d) {
    const Eigen::Vector3d p = b - a, q = c - a, r = d - a;
    const double determinant = p.dot(q.cross(r));
    const Eigen::Vector3d qa = q.cwiseAbs(), ra = r.cwiseAbs();
    const double permanent = std::abs(p.x()) * (qa.y() * ra.z() + qa.z() * ra.y()) +
                             std::abs(p.y()) * (qa.z() * ra.x() + qa.x() * ra.z()) +
                             std::abs(p.z()) * (qa.x() * ra.y() + qa.y() * ra.x());
    // 3 rounded differences, 2 products, 1 + 2 sums: below 8 half-epsilons per term, and the permanent is rounded too.
    if (std::abs(determinant) > 8.0 * kEpsilon * permanent) return sign_of(determinant);

    ExactSum<96> sum;  // 24 products of three, each at most four doubles
    add_determinant(sum, 1.0, b, c, d);
    add_determinant(sum, -1.0, a, c, d);
    add_determinant(sum, 1.0, a, b, d);
    add_determinant(sum, -1.0, a, b, c);
    return sum.sign();
}

int orientation(const Eigen::Vector2d& a, const Eigen::Vector2d& b, const Eigen::Vector2d& c) {
    const double left = (b.x() - a.x()) * (c.y() - a.y()), right = (b.y() - a.y()) * (c.x() - a.x());
    if (std::abs(left - right) > 4.0 * kEpsilon * (std::abs(left) + std::abs(right))) return sign_of(left - right);

    ExactSum<12> sum;
    sum.add_product(b.x(), c.y());
    sum.add_product(-b.y(), c.x());
    sum.add_product(-a.x(), c.y());
    sum.add_product(a.y(), c.x());
    sum.add_product(a.x(), b.y());
    sum.add_product(-a.y(), b.x());
    return sum.sign();
}

}  // namespace farfield
