PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Words such as `make test ARGS="tests/unit -x"` are handed on to pytest or the benchmark.
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-llm check base fix docs bench clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/.demo ## Store a conversation in a file, open it again in a new process, and search it
	$(BIN)/hitherto demo

test: $(VENV)/.dev ## Lint, type-check and test everything
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 $(ARGS)

test-llm: $(VENV)/.llm ## Extract with a real small model (builds llama.cpp first: some twenty minutes)
	$(BIN)/python -m pytest -m llm -p no:randomly -s tests/llm

check: $(VENV)/.dev ## Check format, lint, types, layers and documentation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --strict --quiet

base: $(VENV)/.python ## Install the bare package into an empty environment and use it
	$(PYTHON) -m venv --clear $(VENV)/base
	$(VENV)/base/bin/python -m pip install --quiet --disable-pip-version-check .
	$(VENV)/base/bin/python -I tests/house/base_program.py

fix: $(VENV)/.dev ## Format the code and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --strict

bench: $(VENV)/.dev ## Measure search beside a plain numpy-and-SQLite floor
	$(BIN)/python bench/search.py $(ARGS)

clean: ## Remove the virtual environment and everything that was built
	rm -rf $(VENV) site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/.python:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[local]'
	touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

$(VENV)/.llm: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test-llm]'
	touch $@
