# The only entry point. `make` alone lists what there is.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules

VENV := .venv
PY := $(VENV)/bin/python
BIN := node_modules/.bin

.PHONY: help setup build demo demo-local-model test check gen bench fuzz conformance conformance-soak crash pack fmt clean \
	need-node need-python check-lint check-types check-python check-drift check-arrows check-sizes check-hygiene

help: ## list the targets
	@echo 'Quiesce: everything starts here (needs Node 20.19+ and Python 3.11+, nothing else)'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

# --- setting up ---------------------------------------------------------------

setup: node_modules/.stamp $(VENV)/.stamp build ## install and build everything (quick when nothing changed)

build: node_modules/.stamp
	@$(BIN)/tsc -b
	@node runtime/build.mjs

node_modules/.stamp: package-lock.json | need-node
	npm ci
	@touch $@

$(VENV)/.stamp: python-sdk/requirements-dev.txt python-sdk/pyproject.toml | need-python
	@[ -x $(PY) ] || $(FIND_PYTHON); \
	[ -x $(PY) ] || "$$python" -m venv $(VENV) || { \
		rm -rf $(VENV); echo "error: $$python can't make a virtual environment (on Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 1; }
	$(PY) -m pip install --quiet --disable-pip-version-check -r python-sdk/requirements-dev.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e python-sdk
	@touch $@

# Sets $python to the first interpreter that is new enough, or to nothing.
FIND_PYTHON = python=; for p in python3 python3.13 python3.12 python3.11; do \
	if "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$p; break; fi; done

need-python:
	@$(FIND_PYTHON); [ -n "$$python" ] || { \
		echo "error: Python 3.11 or newer is needed, as python3, python3.13, python3.12 or python3.11; found: $$(python3 --version 2>&1 || true)" >&2; exit 1; }

need-node:
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null || { \
		echo "error: Node 20.19 or newer is needed; found: $$(node --version 2>&1 || true)" >&2; exit 1; }

# --- using it -----------------------------------------------------------------

demo: setup ## see an agent work, in both languages, without a network
	@node conformance/demo/demo.mjs

demo-local-model: setup ## the same with a real model on this machine (slow)
	@node conformance/local-model/run.mjs --install

# --- proving it ---------------------------------------------------------------

test: setup ## run every suite, and count
	@node conformance/checks/run-tests.mjs

check: setup check-lint check-types check-python check-drift check-arrows check-sizes check-hygiene ## everything that needs no run: lint, types, drift, arrows, sizes, hygiene
	@echo 'check: all good'

check-lint:
	$(BIN)/biome ci --colors=off --error-on-warnings .

check-types:
	$(BIN)/tsc -b
	@set -x; for package in schema runtime ts-sdk conformance; do $(BIN)/tsc -p $$package/tsconfig.test.json; done

check-python:
	cd python-sdk && ../$(VENV)/bin/ruff check . && ../$(VENV)/bin/ruff format --check .
	cd python-sdk && ../$(BIN)/pyright

check-drift:
	node conformance/checks/drift.mjs

check-arrows:
	node conformance/checks/arrows.mjs

check-sizes:
	node conformance/checks/sizes.mjs

check-hygiene:
	node conformance/checks/hygiene.mjs

bench: setup ## measure, against the floor
	@node conformance/bench/bench.mjs

FRAMES ?= 1000000
fuzz: SEED := $(or $(SEED),$(shell echo $$RANDOM))
fuzz: setup ## send FRAMES=1000000 frames of anything to the server, and to both SDKs (SEED=n: the same again)
	@FUZZ_FRAMES=$(FRAMES) FUZZ_SEED=$(SEED) node node_modules/vitest/vitest.mjs run conformance/fuzz
	@cd python-sdk && FUZZ_FRAMES=$(FRAMES) FUZZ_SEED=$(SEED) ../$(PY) -m pytest -q -s -o faulthandler_timeout=0 tests/test_fuzz.py

conformance: setup ## does the runtime, do both SDKs keep the contract? (SEED=n fixes the order)
	@$(BIN)/conformance run --jobs 2 --shuffle $(or $(SEED),random)

conformance-soak: setup ## the same twenty times, in an order of its own each time (slow)
	@for i in {1..20}; do $(BIN)/conformance run --jobs 2 --shuffle random; done

crash: setup ## kill the runtime at every point of every scenario, or KILLS=1000 times at random (slow)
	@node conformance/crash/crash.mjs $(if $(KILLS),--kills $(KILLS),--full)

# --- changing it --------------------------------------------------------------

gen: node_modules/.stamp $(VENV)/.stamp ## make the generated files again, from schema/src and the tools
	$(BIN)/tsc -b schema
	node schema/dist/generate.js
	$(BIN)/tsc -b runtime
	node runtime/dist/tools/generate-catalogue.js

fmt: node_modules/.stamp $(VENV)/.stamp ## format and fix, both languages
	$(BIN)/biome check --write .
	cd python-sdk && ../$(VENV)/bin/ruff check --fix . && ../$(VENV)/bin/ruff format .

pack: setup ## make the packages that are published, and install them for proof
	@node conformance/pack/pack.mjs

clean: ## remove everything that was installed or built
	rm -rf node_modules $(VENV) .node24 dist schema/dist runtime/dist ts-sdk/dist conformance/dist python-sdk/dist
	find . -name '*.tsbuildinfo' -not -path './.local-model/*' -delete
	rm -rf .ruff_cache python-sdk/.ruff_cache python-sdk/.pytest_cache python-sdk/.hypothesis
	find python-sdk -name __pycache__ -prune -exec rm -rf {} +
