#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian/Ubuntu packages that are missing (as root or through sudo), or names them exactly and stops.
#   tools/setup_system.sh build|bench|pages
set -euo pipefail

runs() { "$@" >/dev/null 2>&1; }  # a command that is there and works (a shim may be there and not work)

missing=()
need_command() { runs "$1" --version || missing+=("$2"); }
need_package() { runs dpkg-query -W -f '${Status}\n' "$1" && dpkg-query -W -f '${Status}' "$1" | grep -q "ok installed" || missing+=("$1"); }

case "${1:-build}" in
    build)
        need_command g++ g++
        need_command cmake cmake
        need_command ninja ninja-build
        for package in libeigen3-dev libhwy-dev libqhull-dev nlohmann-json3-dev doctest-dev; do
            need_package "$package"
        done
        runs python3 -c "import ensurepip, venv" || missing+=(python3-venv)
        runs python3 -c "import os, sysconfig; assert os.path.exists(sysconfig.get_path('include') + '/Python.h')" \
            || missing+=(python3-dev)
        ;;
    bench) need_package libbenchmark-dev ;;
    # Tests that open a page are skipped without a browser, so failing to get one is not an error.
    pages) runs chromium --version || runs google-chrome --version || missing+=(chromium) ;;
    *) echo "usage: $0 build|bench|pages" >&2; exit 2 ;;
esac

[ ${#missing[@]} -eq 0 ] && exit 0

give_up() {
    echo "Missing system packages. Please run:" >&2
    echo "    $1" >&2
    [ "${2:-}" = optional ] && exit 0
    exit 1
}
optional=""
[ "${1:-build}" = pages ] && optional=optional
command="apt-get install -y --no-install-recommends ${missing[*]}"
runs command -v apt-get || give_up "install the equivalents of: ${missing[*]}" $optional
sudo=""
if [ "$(id -u)" -ne 0 ]; then
    runs sudo -n true || { [ -t 0 ] && runs command -v sudo; } || give_up "sudo $command" $optional
    sudo="sudo"
fi
echo "-- installing system packages: ${missing[*]}"
$sudo apt-get update -q >/dev/null || true
$sudo env DEBIAN_FRONTEND=noninteractive $command >/dev/null || give_up "$sudo $command" $optional
