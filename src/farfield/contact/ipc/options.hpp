// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options of the IPC contact model.
#include <optional>

#include "farfield/contact/ipc/barrier.hpp"

namespace farfield::contact::ipc {

inline constexpr int kMaxGlobalTriangles = 2000;  ///< the global form looks at every pair of features

struct IpcOptions {
    Form form = Form::Clamped;
    double stiffness = 1.0;                    ///< factor of the weights below
    std::optional<double> weight_in_joules{};  ///< kappa [J] of every pair; none: automatic_weight
    std::optional<double> range{};             ///< clamped: contact acts nearer than this [m]; none: automatic_range
    /// Global: the length [m] in which distances are measured; none: 1 m beside a weight in joules, else automatic_length.
    std::optional<double> length_scale{};
    /// Below it friction fades [m/s]; also the largest speed of creep. None: automatic_slip_speed.
    std::optional<double> slip_speed{};
};

/// Throws, naming the option, its value and what is expected.
void validate(const IpcOptions& options);

}  // namespace farfield::contact::ipc
