// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What every contact model asks of the caller of a vjp, and its loop over pairs.
#include <functional>

#include "farfield/base/error.hpp"
#include "farfield/contact/contact_potential.hpp"

namespace farfield::contact {

inline void check_vjp(const char* model, std::size_t num_bodies, StepMode mode, bool linearized,
                      std::span<const Twists> directions, std::size_t num_results) {
    if (mode != StepMode::Backward) fail(model, ": vjp of a step that was not begun with StepMode::Backward");
    if (!linearized) fail(model, ": vjp without linearize at poses where no bodies touch or cross");
    if (num_results != directions.size())
        fail(model, ": room for ", num_results, " results, expected one per direction: ", directions.size());
    for (const Twists& twists : directions) {
        if (twists.size() != num_bodies) fail(model, ": ", twists.size(), " twists, expected ", num_bodies);
    }
}

/// work(0) .. work(count - 1), in order without a pool.
template <class Work>
void run_chunks(ThreadPool* pool, int count, const Work& work) {
    if (pool) {
        pool->run(count, std::cref(work));
    } else {
        for (int chunk = 0; chunk < count; ++chunk) work(chunk);
    }
}

}  // namespace farfield::contact
