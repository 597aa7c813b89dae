#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Says how long compiling the core will take, when it will take long enough to wonder.
#   tools/build_estimate.sh NINJA JOBS
set -euo pipefail
ninja=$1
jobs=$2
# Of one core, on average (g++ 12, 2.9 GHz): a file alone, or several of the library compiled together.
seconds_per_file=4
seconds_per_group=9
files_in_group=5

if [ -f build/release/build.ninja ]; then
    objects=$("$ninja" -C build/release -n _core 2>/dev/null | grep "Building CXX object" || true)
    groups=$(grep -c "/Unity/" <<<"$objects" || true)
    files=$(grep -vc "/Unity/" <<<"$objects" || true)
    [ -n "$objects" ] || files=0
else
    groups=$(($(find src -name "*.cpp" | wc -l) / files_in_group))
    files=$(find bindings -name "*.cpp" | wc -l)
fi
seconds=$(((files * seconds_per_file + groups * seconds_per_group) / jobs))
[ "$seconds" -ge 20 ] || exit 0
if [ "$seconds" -ge 90 ]; then
    time="$(((seconds + 30) / 60)) min"
else
    time="$seconds s"
fi
cache=""
if command -v ccache >/dev/null; then cache=", seconds where ccache knows them"; fi
echo "-- C++ to compile: about $time on $jobs core(s)$cache"
