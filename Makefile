# The verbs of the project. `make demo` and `make test` alone set everything up.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check bench docs serve long lock

.venv/ready: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	touch .venv/ready

demo: .venv/ready  ## the main job on made-up data; leaves report.html
	$(BIN)/tacit demo

test: .venv/ready  ## all default tests
	$(BIN)/python -m pytest -q

check: .venv/ready  ## lint, format, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

long: .venv/ready  ## full counts: every epsilon, long audits; and Spark, which needs Java
	$(BIN)/python -m pytest -q -m "long or spark"

bench: .venv/ready  ## speed beside the peers; see benchmarks/README.md
	$(BIN)/python benchmarks/peers.py

docs: .venv/ready  ## every page and example, run as tests
	$(BIN)/python -m pytest -q docs README.md src --doctest-modules

serve: .venv/ready  ## collector and page on http://127.0.0.1:8000
	$(BIN)/tacit serve

lock:  ## pin every dependency with its hashes; needs uv
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra collector --extra curator --extra dev --extra postgres --extra secure --extra spark pyproject.toml -o requirements.lock
