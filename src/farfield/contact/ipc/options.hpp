// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options of the IPC contact model.
#include <vector>

#include "farfield/contact/ipc/barrier.hpp"

namespace farfield::contact::ipc {

inline constexpr int kMaxGlobalTriangles = 2000;  ///< the global form looks at every pair of features

struct IpcOptions {
    Form form = Form::Clamped;
    double range = 1e-2;        ///< clamped: contact acts nearer than this [m]
    double length_scale = 1.0;  ///< global: the length [m] in which distances are measured
    std::vector<double> scale;  ///< factor of the weight, one per contact pair, or one for all; empty = 1
    double slip_speed = 1e-3;   ///< below it friction fades [m/s]; also the largest speed of creep
};

/// Throws, naming the option, its value and what is expected.
void validate(const IpcOptions& options, int num_pairs);

}  // namespace farfield::contact::ipc
