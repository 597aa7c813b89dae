// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Checks of the numbers of a scene, for those who build a model from it.
#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "farfield/base/error.hpp"
#include "farfield/scene/scene.hpp"

namespace farfield::build {

inline constexpr const char* kPlace = "build_model";

inline std::string quoted(const std::string& kind, const std::string& name) { return kind + " '" + name + "'"; }

inline void require_finite(const Eigen::Ref<const Eigen::VectorXd>& values, const std::string& place,
                           const char* what) {
    for (Eigen::Index i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i]))
            fail(kPlace, ": ", place, ": ", what, "[", i, "] = ", values[i], ", expected a finite number");
    }
}

inline void require_at_least(double value, double bound, const std::string& place, const char* what) {
    if (!(value >= bound) || !std::isfinite(value))
        fail(kPlace, ": ", place, ": ", what, " = ", value, ", expected >= ", bound, " and finite");
}

/// Open ends (-infinity, infinity) are fine.
inline void check_range(const std::optional<Range>& range, const std::string& place, const char* what) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (range && !(range->lower <= range->upper && range->lower < infinity && range->upper > -infinity)) {
        fail(kPlace, ": ", place, ": ", what, " [", range->lower, ", ", range->upper, "], expected lower <= upper");
    }
}

}  // namespace farfield::build
