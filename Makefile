# make reproduce: the paper as a program, into wakeful-report; make test: everything that must hold;
# make static: formatter, linter and types, make minimum: a smoke test on the oldest versions of libraries that we
# allow (both part of make test);
# make bench: the numbers of docs/benchmarks.md; make soak: the faults of the service, for long. Needs Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: reproduce test static minimum bench soak format clean

reproduce: $(VENV)/ready
	$(BIN)/wakeful reproduce $(ARGS)

test: $(VENV)/installed
	$(MAKE) --no-print-directory --jobs=2 static minimum
	$(BIN)/pytest --numprocesses=2 --dist=loadfile $(ARGS)

static: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

minimum: $(VENV)/minimum/ready
	NUMBA_CACHE_DIR=$(VENV)/minimum/cache $(VENV)/minimum/bin/python tests/smoke.py

bench: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[bench]"
	$(BIN)/python benchmarks/stationary.py
	$(BIN)/python benchmarks/decisions.py
	$(BIN)/python benchmarks/lab.py
	$(BIN)/python benchmarks/paper_values.py
	$(BIN)/python benchmarks/duels.py
	$(BIN)/python benchmarks/service.py

soak: $(VENV)/installed
	PYTHONPATH=tests $(BIN)/python benchmarks/soak.py $(ARGS)

$(VENV)/minimum/ready: pyproject.toml $(VENV)/ready
	$(PYTHON) -m venv $(VENV)/minimum
	$(BIN)/python tests/minimum_versions.py > $(VENV)/minimum/versions.txt
	$(VENV)/minimum/bin/pip install --quiet --disable-pip-version-check -r $(VENV)/minimum/versions.txt -e .
	touch $@

format: $(VENV)/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[lab]"
	touch $@

$(VENV)/installed: $(VENV)/ready
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
