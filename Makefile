# Winnow's commands. `make run` starts it, `make test` runs every test; docs/testing.md says more.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --quiet --no-compile --disable-pip-version-check --prefer-binary
WORKERS ?= 2
ARGS ?=

.PHONY: run test load faults lint scoring clean

run: $(VENV)/requirements.stamp
	@$(BIN)/python manage.py up

test: $(VENV)/requirements-dev.stamp
	@./tests/find_chromium
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

load: $(VENV)/requirements-dev.stamp
	@WINNOW_RACE_ROUNDS=200 $(BIN)/python -m pytest tests/annotation/test_races.py $(ARGS)
	@WINNOW_SEQUENCES=4 $(BIN)/python -m pytest tests/annotation/test_state_machine.py tests/annotation/test_state_machine_words.py
	@$(BIN)/python -m tests.load.throughput
	@$(BIN)/python -m tests.load.full_study
	@$(BIN)/python -m tests.load.import_full
	@$(BIN)/python -m tests.load.bad_inputs
	@$(BIN)/python -m tests.load.blinding
	@$(BIN)/python -m tests.load.paper
	@$(BIN)/python -m tests.load.housekeeping
	@$(BIN)/python -m tests.load.releases
	@$(BIN)/python -m tests.load.release_kills
	@$(BIN)/python -m tests.load.scoring

# Planted faults that the suite must catch; ARGS="07 12" runs some of them.
faults: $(VENV)/requirements-dev.stamp
	@$(BIN)/python -m tests.faults.run --keep-going $(ARGS)

# Several GB: lets models score benchmarks. `make run` then starts a worker for that too.
scoring: $(VENV)/requirements-scoring.stamp

lint: $(VENV)/requirements-dev.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

# Removes what the commands made, except var/: the data. Remove that by hand.
clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis tests/shots
	find . -name __pycache__ -type d -not -path './var/*' -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Winnow needs Python 3.11 or newer as $(PYTHON); found: $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "Python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

# Installed again only when the file changed. An interrupted installation leaves no stamp and is simply repeated.
$(VENV)/requirements.stamp: requirements.txt | $(BIN)/python
	@echo "Installing what Winnow needs into $(VENV) …"
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/requirements-scoring.stamp: requirements-scoring.txt requirements.txt | $(BIN)/python
	@echo "Installing what scoring needs into $(VENV), several GB …"
	@$(PIP) -r requirements-scoring.txt
	@touch $@ $(VENV)/requirements.stamp

$(VENV)/requirements-dev.stamp: requirements-dev.txt requirements-scoring.txt requirements.txt | $(BIN)/python
	@echo "Installing what the tests need into $(VENV), several GB …"
	@$(PIP) -r requirements-dev.txt
	@touch $@ $(VENV)/requirements-scoring.stamp $(VENV)/requirements.stamp
