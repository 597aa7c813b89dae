# SPDX-License-Identifier: Apache-2.0
# Every target sets up what it needs and does only what has changed since the last time.
#   make setup     .venv with the command .venv/bin/farfield, and the C++ core
#   make run       the main job
#   make test      everything that gates a change
#   make test-all  also long tests, Debug, and all tests under the sanitizers
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help estimate setup core run test test-all bench docs stubs format lint wheel clean
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Prefer the system's tools: those of other environments on the PATH may be shims that do not run.
CMAKE := $(firstword $(wildcard /usr/bin/cmake) cmake)
NINJA := $(firstword $(wildcard /usr/bin/ninja) ninja)
VENV := .venv
PYTHON := $(VENV)/bin/python
SYSTEM := $(VENV)/.stamp-system
LOCKED := $(VENV)/.stamp-lock
PACKAGE := $(VENV)/.stamp-package
CONFIGURED := build/release/build.ninja
CMAKE_COMMON = -DCMAKE_MAKE_PROGRAM="$$(command -v $(NINJA))"
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:
	@sed -n '3,7p' Makefile | sed 's/^# *//'

# ---- set-up ----------------------------------------------------------------------------------------------------------
$(SYSTEM): tools/setup_system.sh
	@echo "-- checking system packages"
	@tools/setup_system.sh build
	@mkdir -p $(VENV) && touch $@

$(LOCKED): requirements.lock tools/setup_python.sh | $(SYSTEM)
	@tools/setup_python.sh $(VENV) requirements.lock
	@touch $@

# Editable, without CMake: registers python/farfield and the command; the core is built below, straight into it.
$(PACKAGE): pyproject.toml $(LOCKED)
	@echo "-- registering the package in $(VENV)"
	@$(PYTHON) -m pip install -qq --no-build-isolation --no-deps -e . --config-settings=wheel.cmake=false
	@touch $@

$(CONFIGURED): CMakePresets.json $(LOCKED) | $(SYSTEM)
	@echo "-- configuring build/release"
	@$(CMAKE) --preset release $(CMAKE_COMMON) -DPython_EXECUTABLE="$(CURDIR)/$(PYTHON)" >build/release.log \
	    || { cat build/release.log; exit 1; }
	@touch $@

build:
	@mkdir -p build

$(CONFIGURED) build/asan/build.ninja build/asan-all/build.ninja build/debug/build.ninja build/tsan/build.ninja: | build

estimate:
	@tools/build_estimate.sh "$(NINJA)" $(JOBS)

core: estimate $(CONFIGURED)
	@echo "-- building the C++ core and its Python module"
	@$(CMAKE) --build build/release -j $(JOBS) --target _core _core_stub

setup: core $(PACKAGE)
	@echo "-- ready: $(VENV)/bin/farfield"

# ---- the main job ----------------------------------------------------------------------------------------------------
run: setup
	@$(PYTHON) -m farfield.cli run push

# ---- tests -----------------------------------------------------------------------------------------------------------
build/%/build.ninja: CMakePresets.json | $(SYSTEM)
	@echo "-- configuring build/$*"
	@$(CMAKE) --preset $* $(CMAKE_COMMON) >build/$*.log || { cat build/$*.log; exit 1; }
	@touch $@

# PyTorch and JAX: what tests need besides, and a run does not.
$(VENV)/.stamp-tests: tests/requirements.lock $(LOCKED)
	@echo "-- installing what the tests need besides"
	@$(PYTHON) -m pip install -qq -r tests/requirements.lock
	@touch $@

test: setup $(VENV)/.stamp-tests build/asan/build.ninja
	@tools/setup_system.sh pages
	@$(PYTHON) tools/run_tests.py --cmake $(CMAKE) --jobs $(JOBS)

test-all: setup $(VENV)/.stamp-tests build/asan-all/build.ninja build/debug/build.ninja build/tsan/build.ninja
	@tools/setup_system.sh pages
	@$(PYTHON) tools/run_tests.py --all --cmake $(CMAKE) --jobs $(JOBS)

lint: $(LOCKED)
	@$(PYTHON) tools/run_tests.py --only checks

format: $(LOCKED)
	@echo "-- formatting C++ and Python"
	@$(PYTHON) tools/format.py --write
	@$(PYTHON) -m ruff check -q --fix . && $(PYTHON) -m ruff format -q .

# The stub kept in the tests shows every change of the Python interface in review.
stubs: core
	@mkdir -p tests/python/golden
	@cp python/farfield/_core.pyi tests/python/golden/_core.pyi
	@echo "-- wrote tests/python/golden/_core.pyi"

# ---- benchmarks and documentation ------------------------------------------------------------------------------------
bench: setup
	@tools/setup_system.sh bench
	@echo "-- building the benchmarks"
	@$(CMAKE) --preset bench >build/bench.log || { cat build/bench.log; exit 1; }
	@$(CMAKE) --build build/release -j $(JOBS)
	@shopt -s nullglob; for program in build/release/benchmarks/*; do echo "-- $$program"; "$$program"; done
	@for name in $$($(PYTHON) -m farfield.cli bench --list | cut -d' ' -f1); do echo "-- farfield bench $$name"; $(PYTHON) -m farfield.cli bench $$name; done

$(VENV)/.stamp-docs: docs/requirements.lock $(LOCKED)
	@echo "-- installing the documentation tools"
	@$(PYTHON) -m pip install -qq -r docs/requirements.lock
	@touch $@

docs: setup $(VENV)/.stamp-docs $(VENV)/.stamp-tests
	@echo "-- building the documentation"
	@$(PYTHON) -m sphinx -q -W -b html docs docs/_build/html
	@echo "-- open docs/_build/html/index.html"

# ---- distribution ----------------------------------------------------------------------------------------------------
wheel: $(LOCKED)
	@tools/build_wheel.sh dist

clean:
	rm -rf build dist docs/_build python/farfield/_core.*
