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
    std::optional<double> weight_in_joules{};  ///< kappa [J] of every pair; none: automatic_weights
    std::optional<double> range{};             ///< clamped: contact acts nearer than this [m]; none: automatic_range
    double length_scale = 1.0;                 ///< global: the length [m] in which distances are measured
    double slip_speed = 1e-3;                  ///< below it friction fades [m/s]; also the largest speed of creep
};

/// Throws, naming the option, its value and what is expected.
void validate(const IpcOptions& options);

}  // namespace farfield::contact::ipc
