# Each target makes what it needs; `make demo` and `make test` are the two to know.
PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test lint types unit test-oldest test-slow paper \
  figures bench clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "bestcut needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade 'pip>=25.1'

$(VENV)/.core: $(RUN) pyproject.toml
	$(PIP) install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(RUN) pyproject.toml
	$(PIP) install --quiet --editable . --group dev
	@touch $@

demo: $(VENV)/.core  ## set up and decide on a small embedded data set
	@$(RUN) examples/demo.py

test: lint types unit  ## set up, then lint, types, tests and README examples

lint: $(VENV)/.dev  ## ruff: rules and format
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.dev  ## mypy, strict, on src
	$(VENV)/bin/mypy

unit: $(VENV)/.dev  ## pytest on two processes
	$(RUN) -m pytest -n 2 -q

$(VENV)-oldest/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-oldest/bin/python -m pip install --quiet --editable . --group oldest
	@touch $@

test-oldest: $(VENV)-oldest/.done  ## the estimators with the oldest scikit-learn
	$(VENV)-oldest/bin/python -m pytest -n 2 -q tests/estimators tests/test_score_law.py

test-slow: $(VENV)/.dev  ## the statistical tests
	$(RUN) -m pytest -n 2 -q -m slow

paper: $(VENV)/.dev  ## the paper's experiments (QUICK=1: a small part; DATA=folder)
	$(RUN) -m experiments $(if $(QUICK),--quick) $(if $(DATA),--data "$(DATA)") $(ARGS)

figures: $(VENV)/.dev  ## redraw the pictures of README and docs
	$(RUN) docs/figures/expected_score_curve.py
	$(RUN) docs/figures/promised_intervals.py
	$(RUN) docs/figures/displays_gallery.py

$(VENV)-bench/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-bench/bin/python -m pip install --quiet --editable . --group bench
	$(VENV)-bench/bin/python -m pip install --quiet --group peers || \
	  echo "The peers could not be installed; bestcut is measured without them."
	@touch $@

bench: $(VENV)-bench/.done  ## time, memory and accuracy against peers (15 minutes)
	$(VENV)-bench/bin/python benchmarks/run.py $(ARGS)
	$(VENV)-bench/bin/python benchmarks/scores.py $(ARGS)
	$(VENV)-bench/bin/python benchmarks/many.py

clean:  ## remove the environment and caches
	rm -rf $(VENV) $(VENV)-bench $(VENV)-oldest .pytest_cache .mypy_cache .ruff_cache .hypothesis
