#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Resolves pyproject.toml afresh in a temporary environment and rewrites requirements.lock, docs/requirements.lock and tests/requirements.lock.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
python="$scratch/venv/bin/python"
mapfile -t wanted < <(python3 tools/requirements.py dev)
"$python" -m pip install -q "${wanted[@]}"
{
    echo "# Exact versions of everything in .venv: run-time, build and test. Refresh with tools/lock.sh."
    "$python" -m pip freeze | sed 's/^\(pybullet==.*\)$/\1; python_version < "3.12"/'
} > requirements.lock
"$python" -m pip freeze > "$scratch/before"
"$python" -m pip install -q -c requirements.lock "sphinx>=8" furo "myst-parser>=4"
{
    echo "# What make docs adds to .venv. Refresh with tools/lock.sh."
    comm -13 <(sort "$scratch/before") <("$python" -m pip freeze | sort)
} > docs/requirements.lock
"$python" -m pip freeze > "$scratch/before"
"$python" -m pip install -q -c requirements.lock "torch==2.13.0" "jax>=0.5" "ray>=2.40" "cma>=3.3"
{
    echo "# What make test adds to .venv: the learning frameworks and Ray. Refresh with tools/lock.sh."
    echo "# PyTorch is fixed to the version whose CPU build the tests are known to pass with."
    comm -13 <(sort "$scratch/before") <("$python" -m pip freeze | sort) | sed 's/+cpu$//'
    grep -i -E '^(jinja2|markupsafe)==' docs/requirements.lock
} > tests/requirements.lock
echo "rewrote requirements.lock, docs/requirements.lock and tests/requirements.lock"
