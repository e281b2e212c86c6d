# Needs Python 3.11 or newer with venv; to choose another than python3: make run PYTHON=python3.12
PYTHON ?= python3
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
# The umask of root may hide files from the user that runs the embedded Postgres.
PIP_INSTALL := umask 022 && $(BIN)/python -m pip install --quiet --disable-pip-version-check
AS_LOCKED := --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help run install test check fix lock snapshots eval bench screenshots soak promises node conformance agents

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/installed ## Start contextd; Ctrl-C stops it
	@$(MANAGE) up

install: .venv/installed ## Install what contextd needs, without starting it

test: .venv/installed-dev ## Run the tests with coverage; one of them: make test ARGS="--no-cov PATH"
	@$(BIN)/python -m pytest --cov --cov-branch --cov-report=term-missing:skip-covered $(or $(ARGS),$(SIDE_BY_SIDE))
	@test -n "$(ARGS)" || $(BIN)/coverage report --include="$(WHOLLY_COVERED)" --fail-under=100

# Tests start many processes, each of which would compile all modules if this was set.
test: export PYTHONDONTWRITEBYTECODE =

# Each worker has its own servers, and the tests of a file share fixtures in one worker. One worker
# more than there are cores (2 in most gates), since tests spend half their time waiting.
SIDE_BY_SIDE := -n 3 --dist loadfile --no-loadscope-reorder

# The contract with callers, where a line without a test is a promise without a check.
WHOLLY_COVERED := */operations.py,contextd/validation.py,contextd/errors.py

check: .venv/installed-dev ## Check format, style, types and imports
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy .
	@$(BIN)/lint-imports
	@$(MANAGE) check --fail-level WARNING
	@$(MANAGE) makemigrations --check --dry-run

fix: .venv/installed-dev ## Format, and fix what can be fixed automatically
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: .venv/bin/pip ## Update the versions that requirements leave open
	@$(PIP_INSTALL) --upgrade --upgrade-strategy eager -r requirements-dev.txt
	@sed -i.old '/^[^#]/d' constraints.txt && rm constraints.txt.old
	@$(BIN)/python -m pip freeze >> constraints.txt
	@touch .venv/installed .venv/installed-dev

snapshots: .venv/installed-dev ## Write the contracts and pages that are generated
	@$(MANAGE) call --contracts > tests/snapshots/operations.new
	@mv tests/snapshots/operations.new tests/snapshots/operations.json
	@$(MANAGE) docs
	@$(BIN)/python -m tests.contextd.malformed

eval: .venv/installed-dev ## Measure the quality of search
	@$(BIN)/python -m benchmarks.notes
	@$(BIN)/python -m benchmarks.scratch benchmarks.errors
	@$(BIN)/python -m benchmarks.scratch benchmarks.code
	@$(BIN)/python -m benchmarks.scratch benchmarks.threats
	@$(BIN)/python -m benchmarks.scratch benchmarks.diagnosis

bench: .venv/installed-dev ## Measure speed and memory
	@$(BIN)/python -m benchmarks.starting
	@$(BIN)/python -m benchmarks.parsing
	@$(BIN)/python -m benchmarks.checkpoints
	@$(BIN)/python -m benchmarks.remediations
	@$(BIN)/python -m benchmarks.skills
	@$(BIN)/python -m benchmarks.knowledge
	@$(BIN)/python -m benchmarks.sessions
	@$(BIN)/python -m benchmarks.door
	@$(BIN)/python -m benchmarks.repositories
	@$(BIN)/python -m benchmarks.gateway
	@$(BIN)/python -m benchmarks.scratch benchmarks.recording
	@$(BIN)/python -m benchmarks.pages

screenshots: .venv/installed-dev ## Take the screenshots of the docs
	@$(BIN)/python -m tests.browser.screenshots

soak: .venv/installed-dev ## Call upstreams over each transport for 20 minutes while they are killed (SOAK_MINUTES)
	@$(BIN)/python -m benchmarks.soak

promises: .venv/installed-dev ## Check both REST APIs against their OpenAPI documents, with many requests
	@PROMISE_EXAMPLES=$${PROMISE_EXAMPLES:-200} $(BIN)/python -m pytest --no-cov tests/contextd/test_rest_openapi.py tests/analytics/test_openapi.py

conformance: .venv/installed-dev .ci/node/node_modules/.installed ## Run the official MCP conformance suite
	@$(BIN)/python -m tests.conformance.report

node: .ci/node/node_modules/.installed ## Install the programs from npm that some tests run

.ci/node/node_modules/.installed: .ci/node/package-lock.json
	@echo "Installing programs that tests run from npm (once) ..."
	@npm ci --prefix .ci/node --no-audit --no-fund --loglevel error
	@touch $@

agents: .ci/langgraph/venv/installed ## Install what the test of a LangGraph agent needs

# A separate environment, since langchain-mcp-adapters requires an older version of mcp.
.ci/langgraph/venv/installed: .ci/langgraph/requirements.txt
	@echo "Installing LangGraph for a test (once) ..."
	@$(PYTHON) -m venv .ci/langgraph/venv
	@.ci/langgraph/venv/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.venv/installed: requirements.txt constraints.txt | .venv/bin/pip
	@echo "Installing what contextd needs into .venv (once: 750 MB, one to five minutes) ..."
	@$(PIP_INSTALL) $(AS_LOCKED) -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "Installing what its tests need into .venv (once) ..."
	@$(PIP_INSTALL) $(AS_LOCKED) -r requirements-dev.txt
	@touch $@

# The file that is created last, so that an interrupted venv is created again.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "contextd needs Python 3.11 or newer, and $(PYTHON) is not: make run PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) has no venv; on Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	@umask 022 && $(PYTHON) -m venv .venv
