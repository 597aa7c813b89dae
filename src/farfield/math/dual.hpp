// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A number with N derivatives: what a formula needs to be differentiated as it is written. Duals may be nested.
#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>

namespace farfield {

template <class T, int N>
struct Dual {
    T value{};
    std::array<T, N> slope{};  // plain loops: arrays of Eigen take the compiler ten times as long

    Dual() = default;
    Dual(double constant) : value(constant) {}  // NOLINT: numbers mix with duals
    explicit Dual(const T& v) requires(!std::is_same_v<T, double>) : value(v) {}

    Dual operator-() const {
        return filled(-value, [&](std::size_t k) { return -slope[k]; });
    }
    Dual& operator+=(const Dual& b) { return *this = *this + b; }
    Dual& operator-=(const Dual& b) { return *this = *this - b; }
    Dual& operator*=(const Dual& b) { return *this = *this * b; }
    friend Dual operator+(const Dual& a, const Dual& b) {
        return filled(a.value + b.value, [&](std::size_t k) { return a.slope[k] + b.slope[k]; });
    }
    friend Dual operator-(const Dual& a, const Dual& b) {
        return filled(a.value - b.value, [&](std::size_t k) { return a.slope[k] - b.slope[k]; });
    }
    friend Dual operator*(const Dual& a, const Dual& b) {
        return filled(a.value * b.value, [&](std::size_t k) { return a.slope[k] * b.value + b.slope[k] * a.value; });
    }
    friend Dual operator/(const Dual& a, const Dual& b) {
        const T quotient = a.value / b.value;
        return filled(quotient, [&](std::size_t k) { return (a.slope[k] - b.slope[k] * quotient) / b.value; });
    }

    template <class Slope>
    static Dual filled(const T& value, const Slope& slope) {
        Dual out;
        out.value = value;
        for (std::size_t k = 0; k < N; ++k) out.slope[k] = slope(k);
        return out;
    }
};

/// The plain number inside.
inline double plain(double x) { return x; }
template <class T, int N>
double plain(const Dual<T, N>& x) {
    return plain(x.value);
}

template <class T, int N>
Dual<T, N> exp(const Dual<T, N>& x) {
    using std::exp;
    const T e = exp(x.value);
    return Dual<T, N>::filled(e, [&](std::size_t k) { return x.slope[k] * e; });
}
template <class T, int N>
Dual<T, N> log1p(const Dual<T, N>& x) {
    using std::log1p;
    const T below = T(1.0) + x.value;
    return Dual<T, N>::filled(log1p(x.value), [&](std::size_t k) { return x.slope[k] / below; });
}
template <class T, int N>
Dual<T, N> sqrt(const Dual<T, N>& x) {
    using std::sqrt;
    const T root = sqrt(x.value);
    const T below = T(2.0) * root;
    return Dual<T, N>::filled(root, [&](std::size_t k) { return x.slope[k] / below; });
}

}  // namespace farfield

namespace Eigen {
template <class T, int N>
struct NumTraits<farfield::Dual<T, N>> : NumTraits<double> {
    using Real = farfield::Dual<T, N>;
    using NonInteger = farfield::Dual<T, N>;
    using Nested = farfield::Dual<T, N>;
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 1,
        ReadCost = N,
        AddCost = N,
        MulCost = 2 * N
    };
};
}  // namespace Eigen
