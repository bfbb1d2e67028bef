# The targets of a checkout; `make` lists them. `make serve PIECES=5 PORT=9000` sets what is set here.
PYTHON = python3
VENV = .venv
PIECES = 4
DATA = data
HOST = 127.0.0.1
PORT = 8000

BIN = $(VENV)/bin
INSTALLED = $(VENV)/.installed
UNFINISHED = $(DATA)/.unfinished
NPM := $(shell command -v npm)
NODE_TOOLS = $(if $(NPM),node_modules/.package-lock.json)

.DEFAULT_GOAL := help
.PHONY: help env serve test test-fast lint lint-page openapi types check-all figures format clean distclean

help: ## what there is to make
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

env: $(INSTALLED) ## the environment alone, in .venv: `. .venv/bin/activate`, then `shashki`

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@

# A run of the generator that was stopped leaves a part of the tables: the mark lets the next one finish them, while
# tables that were made in another way are served as they are, unless PIECES is named. The dry run is refused where
# the run would be, before anything is left behind.
serve: $(INSTALLED) ## serve the tables on 127.0.0.1:8000; makes those of up to 4 pieces first, if none, or what PIECES=5 lacks
	@if [ ! -e "$(DATA)/manifest.json" ] || [ -e "$(UNFINISHED)" ] || [ "$(origin PIECES)" = "command line" ]; then \
	  $(BIN)/shashki generate --pieces $(PIECES) --data "$(DATA)" --dry-run >/dev/null && \
	  mkdir -p "$(DATA)" && touch "$(UNFINISHED)" && \
	  echo "Making the tables of up to $(PIECES) pieces in $(DATA); compiling comes first, once, and takes half a minute." && \
	  $(BIN)/shashki generate --pieces $(PIECES) --data "$(DATA)" && rm "$(UNFINISHED)"; \
	fi
	$(BIN)/shashki serve --data "$(DATA)" --host $(HOST) --port $(PORT)

lint: $(INSTALLED) lint-page ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The page needs no build. Node runs only the tools that format, lint and type-check its JavaScript and CSS.
lint-page: $(NODE_TOOLS) $(if $(NPM),openapi)
ifneq ($(NPM),)
	npm run --silent lint
else
	@echo "JavaScript and CSS are not checked: there is no npm (Debian: nodejs and npm)"; test -z "$$CI"
endif

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error

# The document does not depend on the tables: any directory will do.
openapi: $(INSTALLED)
	@mkdir -p build
	@SHASHKI_DATA=build SHASHKI_COMPILED=no \
	  $(BIN)/flask --app server.app:create_app openapi --output build/openapi.json >build/openapi.log

types: $(NODE_TOOLS) openapi ## write the types of the API's answers for the page: types/openapi.d.ts
	npm run --silent types

test: lint ## what CI runs: style, types, and the tests that are quick enough for every day
	$(BIN)/pytest --numprocesses auto --dist worksteal

test-fast: $(INSTALLED) ## the tests that take a moment each, without browser, C compiler and cluster
	$(BIN)/pytest --numprocesses auto --dist worksteal \
	  -m 'not whole and not slow and not browser and not compiler and not cluster'

check-all: lint ## everything, whole: every value of 2-5 pieces verified, perft deeper, clean installs
	$(BIN)/pytest -m 'whole or not whole'

figures: $(INSTALLED) ## measure what is cheap of docs/performance.md, up to 5 pieces or PIECES=6, and draw its plots
	$(BIN)/python benchmarks/figures.py $(if $(filter command line,$(origin PIECES)),--pieces $(PIECES))

format: $(INSTALLED) $(NODE_TOOLS) ## bring the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(if $(NPM),npm run --silent format)

clean: ## remove what tests and builds leave; tables and environment stay
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean ## remove the environment too; tables stay
	rm -rf $(VENV) node_modules
