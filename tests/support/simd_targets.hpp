// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The same check on every instruction set of this processor, as older processors would run it.
#include <doctest/doctest.h>
#include <hwy/highway.h>

#include <cstdint>

namespace farfield::testing {

template <class Check>
void on_every_target(Check&& check) {
    const auto choose = [](std::int64_t targets) {
        hwy::SetSupportedTargetsForTest(targets);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    };
    int tried = 0;
    for (const std::int64_t target : {std::int64_t{HWY_SSSE3}, std::int64_t{HWY_SSE4}, std::int64_t{HWY_AVX2},
                                      std::int64_t{HWY_AVX3}, std::int64_t{HWY_NEON}}) {
        choose(0);
        if ((hwy::SupportedTargets() & target) == 0) continue;
        choose(target);
        INFO("target ", hwy::TargetName(target));
        check();
        ++tried;
    }
    choose(0);
    CHECK(tried >= 1);
}

}  // namespace farfield::testing
