#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Says how long compiling the core will take, when it will take long enough to wonder.
#   tools/build_estimate.sh NINJA JOBS
set -euo pipefail
ninja=$1
jobs=$2
seconds_per_file=6  # of one core, on average over library and bindings, files compiled together counted as one (g++ 12, 2.5 GHz)

if [ -f build/release/build.ninja ]; then
    files=$("$ninja" -C build/release -n _core 2>/dev/null | grep -c "Building CXX object" || true)
else
    files=$(($(find src bindings -name "*.cpp" | wc -l) / 4))
fi
seconds=$((files * seconds_per_file / jobs))
[ "$seconds" -ge 20 ] || exit 0
if [ "$seconds" -ge 90 ]; then
    time="$(((seconds + 30) / 60)) min"
else
    time="$seconds s"
fi
cache=""
if command -v ccache >/dev/null; then cache=", seconds where ccache knows them"; fi
echo "-- $files C++ files to compile: about $time on $jobs core(s)$cache"
