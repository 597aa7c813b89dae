// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A number with N derivatives: what a formula needs to be differentiated as it is written. Duals may be nested.
#include <Eigen/Dense>
#include <cmath>

namespace farfield {

template <class T, int N>
struct Dual {
    T value{};
    Eigen::Array<T, N, 1> slope = Eigen::Array<T, N, 1>::Constant(T(0.0));

    Dual() = default;
    Dual(double constant) : value(constant) {}  // NOLINT: numbers mix with duals
    Dual(T v, const Eigen::Array<T, N, 1>& s) : value(v), slope(s) {}

    Dual operator-() const { return {-value, -slope}; }
    Dual& operator+=(const Dual& b) { return *this = *this + b; }
    Dual& operator-=(const Dual& b) { return *this = *this - b; }
    Dual& operator*=(const Dual& b) { return *this = *this * b; }
    friend Dual operator+(const Dual& a, const Dual& b) { return {a.value + b.value, a.slope + b.slope}; }
    friend Dual operator-(const Dual& a, const Dual& b) { return {a.value - b.value, a.slope - b.slope}; }
    friend Dual operator*(const Dual& a, const Dual& b) {
        return {a.value * b.value, a.slope * b.value + b.slope * a.value};
    }
    friend Dual operator/(const Dual& a, const Dual& b) {
        const T quotient = a.value / b.value;
        return {quotient, (a.slope - b.slope * quotient) / b.value};
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
    return {e, x.slope * e};
}
template <class T, int N>
Dual<T, N> log1p(const Dual<T, N>& x) {
    using std::log1p;
    return {log1p(x.value), x.slope / (T(1.0) + x.value)};
}
template <class T, int N>
Dual<T, N> sqrt(const Dual<T, N>& x) {
    using std::sqrt;
    const T root = sqrt(x.value);
    return {root, x.slope / (T(2.0) * root)};
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
