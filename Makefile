# Winnow's commands. `make run` starts it, `make test` runs every test; docs/design/testing.md says more.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --quiet --no-compile --disable-pip-version-check --prefer-binary
UV := $(VENV)/uv
WORKERS ?= 3
ARGS ?=
unexport PYTHONDONTWRITEBYTECODE  # or each process compiles every module again

.PHONY: run setup dev test nightly load nemesis faults pictures messages coverage lint lock models release-check clean

run: $(VENV)/web.stamp
	@echo "Loading Winnow …"
	@$(BIN)/python manage.py up

# `make run` that takes changes up by itself: templates and static files at the next page, Python after a restart.
dev: $(VENV)/web.stamp
	@WINNOW_DEBUG=1 $(BIN)/python manage.py up

# What the tests need; `make test` does this first.
setup: $(VENV)/dev.stamp
	@./tests/find_chromium

test: setup
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# The long runs of what the suite samples: state machines, races, kills, classifiers, full sizes, random examples.
nightly: setup
	@HYPOTHESIS_PROFILE=nightly WINNOW_RACE_ROUNDS=200 WINNOW_SEQUENCES=4 \
	  $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "nightly or hypothesis" $(ARGS)

load: $(VENV)/dev.stamp
	@$(BIN)/python -m bench.throughput
	@$(BIN)/python -m bench.import_full
	@$(BIN)/python -m bench.bad_inputs
	@$(BIN)/python -m bench.blinding
	@$(BIN)/python -m bench.releases
	@$(BIN)/python -m bench.scoring
	@$(BIN)/python -m bench.pages

# Annotators at work while every part is killed and paused, the network breaks, the disk fills and the clock steps.
# ARGS="--seed 7 --judgments 3000 --faults 30" for another run.
nemesis: $(VENV)/dev.stamp
	@$(BIN)/python -m bench.nemesis $(ARGS)

# Planted faults that the suite must catch; ARGS="07 12" runs some of them.
faults: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.faults.run --keep-going $(ARGS)

# The screens in docs/pictures, taken anew: the README's first ten minutes in a real Chromium.
pictures: setup
	@$(BIN)/python -m bench.pictures

# What still keeps this commit from being released: the image's files, the client's packages, the changelog.
release-check: $(VENV)/dev.stamp
	@$(BIN)/python -m bench.release_check

# Several GB: lets models score benchmarks. `make run` then starts a worker for that too.
models: $(VENV)/models.stamp

# Brings the catalogues of the annotators' languages (annotation/locale) up to date with the texts of the pages.
messages: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.catalogues

# Pins every package and its hashes (requirements/*.lock), after a change to requirements/*.txt. What is pinned stays, unless
# ARGS="--upgrade" or ARGS="--upgrade-package NAME" asks for newer ones.
lock: $(BIN)/python
	@$(get_uv)
	@for set in installer dev web remote models; do echo "Locking $$set …"; \
	  case $$set in installer|dev) within=;; *) within="-c requirements/dev.lock";; esac; \
	  $(UV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate $(ARGS) $$within \
	    --custom-compile-command "make lock" requirements/$$set.txt -o requirements/$$set.lock >/dev/null || exit 1; done
	@rm -rf $(UV)

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/djhtml --tabwidth 2 --extra-block heading,actions,endheading --check templates
	@$(BIN)/djade --target-version 5.2 --check $$(find templates -name '*.html')
	@$(BIN)/mypy
	@$(BIN)/mypy --config-file client/pyproject.toml

coverage: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --cov --cov-branch --cov-report=term:skip-covered $(ARGS)

# Removes what the commands made, except var/: the data. Remove that by hand.
clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis tests/shots
	find . -name __pycache__ -type d -not -path './var/*' -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Winnow needs Python 3.11 or newer as $(PYTHON); found: $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Creating $(VENV) …"
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "Python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

get_uv = $(PIP) --target $(UV) --require-hashes -r requirements/installer.lock

# $(call install,FILE): uv takes a quarter of pip's CPU time and is gone afterwards. It reads none of pip's settings, so pip
# installs whatever uv does not find.
define install
@{ $(get_uv) && $(UV)/bin/uv pip install --quiet --require-hashes --python $(BIN)/python -r $(1); } 2>/dev/null || \
  $(PIP) --require-hashes -r $(1)
@rm -rf $(UV)
@cd $(VENV)/lib/python3.*/site-packages && rm -rf $$(grep -o '^[A-Za-z][^ ]*' $(CURDIR)/requirements/unused.txt)
endef

# Installed again only when a file changed. An interrupted installation leaves no stamp and is simply repeated.
$(VENV)/web.stamp: requirements/web.lock requirements/installer.lock requirements/unused.txt | $(BIN)/python
	@echo "Installing what Winnow needs into $(VENV) …"
	$(call install,requirements/web.lock)
	@touch $@

$(VENV)/models.stamp: requirements/models.lock requirements/installer.lock requirements/unused.txt | $(BIN)/python
	@echo "Installing the models' libraries into $(VENV), several GB …"
	$(call install,requirements/models.lock)
	@touch $@ $(VENV)/web.stamp

$(VENV)/dev.stamp: requirements/dev.lock requirements/installer.lock requirements/unused.txt | $(BIN)/python
	@echo "Installing what the tests need into $(VENV), several GB …"
	$(call install,requirements/dev.lock)
	@touch $@ $(VENV)/models.stamp $(VENV)/web.stamp
