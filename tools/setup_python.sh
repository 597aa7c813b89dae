#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the virtual environment and puts the locked versions into it.
#   tools/setup_python.sh .venv requirements.lock
set -euo pipefail
venv=$1
lock=$2

make_venv() { "$1" -m venv "$venv" >/dev/null 2>&1 && "$venv/bin/python" -m pip --version >/dev/null 2>&1; }

if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    echo "-- creating $venv"
    # The python3 on the PATH may be one without ensurepip; the system's own has it through python3-venv.
    make_venv python3 || make_venv /usr/bin/python3 || {
        echo "python3 -m venv $venv failed; install python3-venv (apt-get install python3-venv)" >&2
        exit 1
    }
fi
if "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "-- installing the versions of $lock"
    "$venv/bin/python" -m pip install -qq -r "$lock"
else
    echo "-- Python older than 3.11, which $lock does not cover: installing the newest versions pyproject.toml allows"
    "$venv/bin/python" -m pip install -qq tomli
    "$venv/bin/python" tools/requirements.py dev | xargs -d '\n' "$venv/bin/python" -m pip install -qq
fi
