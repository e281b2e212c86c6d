# Needs Python 3.11 or newer and nothing else; another one than python3: make run PYTHON=python3.12
PYTHON ?= python3
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py
# Root's own umask may hide from other users what the embedded Postgres, another user then, runs.
PIP_INSTALL := umask 022 && $(BIN)/python -m pip install --quiet --disable-pip-version-check
AS_LOCKED := --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help run test check fix lock snapshots eval bench screenshots soak promises node conformance agents

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/installed ## Start contextd; Ctrl-C stops it
	@$(MANAGE) up

test: .venv/installed-dev ## Run the tests with coverage; one of them: make test ARGS="--no-cov PATH"
	@$(BIN)/python -m pytest --cov --cov-branch --cov-report=term-missing:skip-covered $(or $(ARGS),$(SIDE_BY_SIDE))
	@test -n "$(ARGS)" || $(BIN)/coverage report --include="$(WHOLLY_COVERED)" --fail-under=100

# Tests start many processes, each of which would compile all modules where this is set.
test: export PYTHONDONTWRITEBYTECODE =

# Each worker has servers of its own; a file stays together, since what it starts it shares. One
# worker more than there are cores (2 in most gates), since tests wait for processes half their time.
SIDE_BY_SIDE := -n 3 --dist loadfile --no-loadscope-reorder

# Where a line that no test runs is a promise to callers that nobody looked at.
WHOLLY_COVERED := */operations.py,contextd/validation.py,contextd/errors.py

check: .venv/installed-dev ## Look for mistakes without running anything
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy .
	@$(BIN)/lint-imports
	@$(MANAGE) check --fail-level WARNING
	@$(MANAGE) makemigrations --check --dry-run

fix: .venv/installed-dev ## Format, and repair what can be repaired
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: .venv/bin/pip ## Choose anew the versions that requirements leave open
	@$(PIP_INSTALL) --upgrade --upgrade-strategy eager -r requirements-dev.txt
	@sed -i.old '/^[^#]/d' constraints.txt && rm constraints.txt.old
	@$(BIN)/python -m pip freeze >> constraints.txt
	@touch .venv/installed .venv/installed-dev

snapshots: .venv/installed-dev ## Write anew what callers may rely on
	@$(MANAGE) call --contracts > tests/snapshots/operations.new
	@mv tests/snapshots/operations.new tests/snapshots/operations.json
	@$(MANAGE) docs
	@$(BIN)/python -m tests.contextd.malformed

eval: .venv/installed-dev ## Measure how well search finds
	@$(BIN)/python -m benchmarks.notes
	@$(BIN)/python -m benchmarks.scratch benchmarks.errors
	@$(BIN)/python -m benchmarks.scratch benchmarks.code
	@$(BIN)/python -m benchmarks.scratch benchmarks.threats
	@$(BIN)/python -m benchmarks.scratch benchmarks.diagnosis

bench: .venv/installed-dev ## Measure how fast it is
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

screenshots: .venv/installed-dev ## Draw the pictures of the docs anew
	@$(BIN)/python -m tests.browser.screenshots

soak: .venv/installed-dev ## Call upstreams for 20 minutes while they are killed (SOAK_MINUTES)
	@$(BIN)/python -m benchmarks.soak

promises: .venv/installed-dev ## Ask both REST APIs much, and hold them to their OpenAPI documents
	@PROMISE_EXAMPLES=$${PROMISE_EXAMPLES:-200} $(BIN)/python -m pytest --no-cov tests/contextd/test_rest_openapi.py tests/analytics/test_openapi.py

conformance: .venv/installed-dev .ci/node/node_modules/.installed ## Run the official MCP conformance suite
	@$(BIN)/python -m tests.conformance.report

node: .ci/node/node_modules/.installed ## Install the programs from npm that some tests run

.ci/node/node_modules/.installed: .ci/node/package-lock.json
	@echo "Installing programs that tests run from npm (once) ..."
	@npm ci --prefix .ci/node --no-audit --no-fund --loglevel error
	@touch $@

agents: .ci/langgraph/venv/installed ## Install what the test of a LangGraph agent needs

# An environment of its own: langchain-mcp-adapters wants an older version of mcp.
.ci/langgraph/venv/installed: .ci/langgraph/requirements.txt
	@echo "Installing LangGraph for a test (once) ..."
	@$(PYTHON) -m venv .ci/langgraph/venv
	@.ci/langgraph/venv/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.venv/installed: requirements.txt constraints.txt | .venv/bin/pip
	@echo "Installing what contextd needs into .venv (once) ..."
	@$(PIP_INSTALL) $(AS_LOCKED) -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "Installing what its tests need into .venv (once) ..."
	@$(PIP_INSTALL) $(AS_LOCKED) -r requirements-dev.txt
	@touch $@

# Named after its last part, so that a venv that was interrupted is made again.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "contextd needs Python 3.11 or newer, and $(PYTHON) is not: make run PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) has no venv; on Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
	@umask 022 && $(PYTHON) -m venv .venv
