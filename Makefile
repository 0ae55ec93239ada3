# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
#
# Every target does its own set-up (.ci/setup), and only the steps whose inputs changed.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo demo-teach-repeat test test-all test-kilted lint docs bench verify \
    fuzz clean distclean wheels

PYTHON ?= python3
# Test processes. As root each has a network of its own, otherwise one of them does all flying.
WORKERS ?= 2
# Arguments for pytest, for instance: make test PYTEST="-k geodesy"; make test-all for slow tests
PYTEST ?=
# make bench NAMES="flight lidar"   make verify NAMES="dense kitti" ARGS="--set seeds=[1000]"
NAMES ?=
ARGS ?=
# Damaged files of each format: make fuzz FILES=100
FILES ?= 500

export PYTHON
ENVIRONMENT := . .venv/.aerotwin/environment.sh
MODULES = $(patsubst %/__init__.py,%,$(wildcard src/*/aerotwin_*/__init__.py)) test/evidence
empty :=
space := $(empty) $(empty)

help:
	@echo "aerotwin: fly a robot through a digital twin, run a SLAM on it, read how good it was"
	@echo
	@echo "  make demo         set up, fly past the cliff for a minute, print where the report is"
	@echo "  make demo-teach-repeat  survey a campus from the air, repeat a route on its ground: 15 min"
	@echo "  make test         set up, run the tests that take less than ten seconds each"
	@echo "  make test-all     those that take longer, too: flights, drives, browsers, wheels"
	@echo "  make setup        only set up: .venv/bin/aerotwin then works from any shell"
	@echo
	@echo "  make lint         style, types, YAML"
	@echo "  make docs         the documentation site       -> build/docs/index.html"
	@echo "  make bench        speed, as ratios             -> build/bench.json"
	@echo "  make verify       the long evidence, resumable -> build/verify.json"
	@echo "  make fuzz         hostile and damaged files    -> build/fuzz.json"
	@echo "  make wheels       a wheel of each package      -> build/wheels"
	@echo "  make test-kilted  the ROS tests on ROS 2 Kilted, in an environment of their own"
	@echo "  make clean        remove what was built; distclean: the environments, too"
	@echo
	@echo "  PYTHON=python3.12 picks the interpreter (3.11 or 3.12), before the first set-up"
	@echo "  PYTEST='-k NAME'  goes to pytest; WORKERS=1 runs the tests in one process"
	@echo "  NAMES=flight      is what bench or verify does (all); ARGS=--help goes to them"

setup:
	@.ci/setup jazzy

setup-dev:
	@.ci/setup jazzy dev

demo: setup
	@.venv/bin/aerotwin launch launch/sitl_flight.launch.yaml name:=demo

# World, area round its route and seed of the noise; each stage can be called by hand as it is shown.
DEMO_WORLD ?= campus
DEMO_AREA_M ?= -75 -60 75 60
DEMO_DIR ?= build/teach-repeat
DEMO_STAGE = stage() { echo "$$1"; shift; echo "  aerotwin $$*"; .venv/bin/aerotwin "$$@"; }

# It goes on where a mark was not found, or something floats over the road of the reconstruction:
# both are told.
demo-teach-repeat: setup
	@$(DEMO_STAGE)
	dir=$(DEMO_DIR); rm -rf "$$dir"
	stage "1 of 5: survey, flown by the simulator, of a ground with painted marks" \
	    survey $(DEMO_WORLD) --area-m $(DEMO_AREA_M) --marks route -o $$dir/survey
	stage "2 of 5: reconstruction from pictures and GNSS" \
	    reconstruct $$dir/survey -o $$dir/reconstruction
	stage "3 of 5: the marks in its ortho picture" \
	    reconstruct marks $$dir/reconstruction --survey $$dir/survey -o $$dir/marks \
	    || test $$? -eq 1
	stage "4 of 5: a route taught through the marks, in the reconstruction" \
	    teach $$dir/reconstruction/cloud.ply --route $$dir/marks/route.yaml --anyway -o $$dir/route \
	    || test $$? -eq 1
	stage "5 of 5: a robot that was never there repeats it, three times" \
	    repeat $$dir/route --world $(DEMO_WORLD) --marks $$dir/marks/marks.csv -o $$dir/repeats \
	    || code=$$?
	echo "The report is $$dir/repeats/report.html"
	exit $${code:-0}

EVIDENCE = $(ENVIRONMENT); PYTHONPATH=test$${PYTHONPATH:+:$$PYTHONPATH} python -P -m evidence

bench: setup-dev
	@$(EVIDENCE) bench $(NAMES) --json build/bench.json $(ARGS)

verify: setup-dev
	@$(EVIDENCE) verify $(NAMES) --json build/verify.json $(ARGS)

fuzz: setup-dev
	@$(EVIDENCE) verify fuzz --set base.files=$(FILES) --json build/fuzz.json $(ARGS)

COLCON_TEST = AEROTWIN_TESTS=one-of-each-file colcon test --base-paths src --return-code-on-test-failure --event-handlers console_direct-
# Their tests open ports that are fixed: never two at once.
FLYING = aerotwin_autopilot aerotwin_px4_bridge aerotwin_simulator

# All tests, or those that are not slow; what failed once more, without a neighbour. Then one of each
# file by `colcon test`, each package in the environment that its manifest gives it: its tests are found there,
# import only what it declares, and pass. What colcon would run again of the others shows nothing
# new.
# What killed processes left in shared memory is removed at the end; what lives is not touched.
test: CHOSEN = -m "not slow"
test test-all: setup-dev
	@$(ENVIRONMENT)
	trap 'fastdds shm clean >/dev/null' EXIT
	python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder $(CHOSEN) $(PYTEST) || {
	    test $$? -eq 1
	    echo "Once more what failed, alone on the machine: what passes now is flaky, please report it."
	    python -m pytest -x --last-failed --last-failed-no-failures none $(CHOSEN) $(PYTEST)
	}
	$(if $(PYTEST),exit 0)  # what was asked for has run
	$(COLCON_TEST) --packages-skip $(FLYING) --parallel-workers $(WORKERS) >build/setup/colcon-test.log 2>&1 \
	    || { colcon test-result --verbose; exit 1; }
	$(COLCON_TEST) --packages-select $(FLYING) --executor sequential >>build/setup/colcon-test.log 2>&1 \
	    || { colcon test-result --verbose; exit 1; }
	colcon test-result

test-kilted:
	@.ci/setup kilted dev
	. .venv-kilted/.aerotwin/environment.sh
	trap 'fastdds shm clean >/dev/null' EXIT
	python -m pytest -m ros $(PYTEST)

lint: setup-dev
	@$(ENVIRONMENT)
	ruff check --output-format concise
	ruff format --check
	MYPYPATH=$(subst $(space),:,$(strip $(patsubst %/,%,$(dir $(MODULES))))) \
	    mypy --config-file .mypy.ini $(MODULES)
	python -m pytest -q -p no:xdist test/test_architecture.py

# Warnings are errors, a link that leads nowhere is one.
docs: setup-dev
	@$(ENVIRONMENT)
	python -P -m sphinx -b html -q -W --keep-going -d build/doctrees docs build/docs
	echo "The documentation is build/docs/index.html"

# pip install --find-links build/wheels 'aerotwin[evaluate]'   or [maps], [sim], [ros]
wheels: setup
	@.venv/bin/python .ci/wheels.py build/wheels

clean:
	rm -rf build install log
	find src test -name __pycache__ -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv .venv-kilted
