# make reproduce: the paper as a program, into wakeful-report; make test: everything that must hold;
# make static: formatter, linter and types, make minimum: a smoke test on the oldest versions of libraries that we
# allow, make compiled: the policies of the tests, compiled once for all test processes (all three part of make test);
# make bench: the numbers of docs/benchmarks.md; make soak: the faults of the service, for long. Needs Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := install --quiet --disable-pip-version-check --no-compile # bytecode is written for what is imported
export PYTHONDONTWRITEBYTECODE :=

.PHONY: reproduce test static minimum compiled bench soak format clean

reproduce: $(VENV)/ready
	$(BIN)/wakeful reproduce $(ARGS)

test:
	$(MAKE) --no-print-directory --jobs=3 static minimum compiled
	$(BIN)/pytest --numprocesses=3 --dist=loadfile --no-loadscope-reorder $(ARGS)

static: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

minimum: $(VENV)/minimum/ready
	NUMBA_CACHE_DIR=$(VENV)/minimum/cache $(VENV)/minimum/bin/python tests/smoke.py

compiled: $(VENV)/installed
	$(BIN)/python tests/compile_policies.py

bench: $(VENV)/installed
	$(BIN)/pip $(PIP_INSTALL) -e ".[bench]"
	$(BIN)/python benchmarks/stationary.py
	$(BIN)/python benchmarks/decisions.py
	$(BIN)/python benchmarks/counts.py
	$(BIN)/python benchmarks/lab.py
	$(BIN)/python benchmarks/paper_values.py
	$(BIN)/python benchmarks/duels.py
	$(BIN)/python benchmarks/service.py

soak: $(VENV)/installed
	PYTHONPATH=tests $(BIN)/python benchmarks/soak.py $(ARGS)

$(VENV)/minimum/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)/minimum
	$(PYTHON) tests/minimum_versions.py > $(VENV)/minimum/versions.txt
	$(VENV)/minimum/bin/pip $(PIP_INSTALL) -r $(VENV)/minimum/versions.txt -e .
	touch $@

format: $(VENV)/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip $(PIP_INSTALL) -e ".[lab]"
	touch $@

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip $(PIP_INSTALL) -e ".[dev]"
	touch $(VENV)/ready $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
