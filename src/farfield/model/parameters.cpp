// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/parameters.hpp"

#include <cmath>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

/// Calls combine(entries of a, entries of b) field by field.
template <class A, class Combine>
void combine_fields(A& a, const Parameters& b, Combine&& combine) {
    visit_fields(a, [&](const auto& field, auto& value) {
        const auto &own = entries(value), &other = entries(b.*field.member);
        if (own.size() != other.size()) {
            fail("Parameters: ", field.name, " has ", own.size(), " and ", other.size(),
                 " entries, expected parameters of one model");
        }
        combine(entries(value), other);
    });
}

}  // namespace

Eigen::Index num_entries(const Parameters& parameters) {
    Eigen::Index count = 0;
    visit_fields(parameters, [&](const auto&, const auto& value) { count += entries(value).size(); });
    return count;
}

Eigen::VectorXd flatten(const Parameters& parameters) {
    // A member that is added and forgotten in the list of fields does not compile.
    [[maybe_unused]] const auto& [m, a, p, d, c, r, s, j, g, f, w, h] = parameters;
    static_assert(std::tuple_size_v<decltype(kParameterFields)> == 12);
    Eigen::VectorXd flat(num_entries(parameters));
    Eigen::Index start = 0;
    visit_fields(parameters, [&](const auto&, const auto& value) {
        const auto numbers = entries(value);
        flat.segment(start, numbers.size()) = numbers;
        start += numbers.size();
    });
    return flat;
}

Parameters unflatten(const Parameters& sizes, const Eigen::VectorXd& flat) {
    if (flat.size() != num_entries(sizes))
        fail("unflatten: ", flat.size(), " numbers, expected ", num_entries(sizes), " for the parameters of the model");
    Parameters parameters = sizes;
    Eigen::Index start = 0;
    visit_fields(parameters, [&](const auto&, auto& value) {
        auto numbers = entries(value);
        numbers = flat.segment(start, numbers.size());
        start += numbers.size();
    });
    return parameters;
}

void add_scaled(Parameters& sum, double factor, const Parameters& term) {
    combine_fields(sum, term, [&](auto own, const auto& other) { own += factor * other; });
}

Parameters operator+(Parameters a, const Parameters& b) {
    combine_fields(a, b, [](auto own, const auto& other) { own += other; });
    return a;
}

Parameters operator-(Parameters a, const Parameters& b) {
    combine_fields(a, b, [](auto own, const auto& other) { own -= other; });
    return a;
}

Parameters operator*(double factor, Parameters p) {
    visit_fields(p, [&](const auto&, auto& value) { entries(value) *= factor; });
    return p;
}

double dot(const Parameters& a, const Parameters& b) {
    double sum = 0.0;
    combine_fields(a, b, [&](const auto& own, const auto& other) { sum += own.dot(other); });
    return sum;
}

void set_mass(Parameters& parameters, int body, double mass) {
    const auto count = static_cast<int>(parameters.moments.rows());
    if (body < 0 || body >= count) fail("set_mass: body ", body, ", expected 0 to ", count - 1);
    if (!(mass > 0.0) || !std::isfinite(mass)) fail("set_mass: body ", body, ": mass ", mass, ", expected > 0 [kg]");
    auto row = parameters.moments.row(body);
    if (!(row[0] > 0.0))
        fail("set_mass: body ", body, " has mass ", row[0], ", expected > 0 [kg] to scale its inertia by");
    row *= mass / row[0];
    row[0] = mass;
}

}  // namespace farfield
