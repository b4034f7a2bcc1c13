# One door to everything. Each target is one line to a tool; `make help` lists them.
# PG_CONFIG=/path/to/pg_config picks a server; without it, the newest complete one on this machine.

PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
VENV := .venv/bin
DOCS ?= docs
CORPORA ?= $(wildcard ../shared/corpora/*/)
TESTS ?= tests
JOBS ?= 2

export PYTHONDONTWRITEBYTECODE = 1

# Said before anything is prepared for tests that are not there.
ifneq ($(filter test,$(MAKECMDGOALS)),)
$(foreach test,$(TESTS),$(if $(wildcard $(firstword $(subst ::, ,$(test)))),,$(error there is no $(test) here)))
endif

.DEFAULT_GOAL := help
.PHONY: help deps venv data install serve stop demo test versions laws replay bench lint format dist clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps:  ## install what is missing: PostgreSQL with plpython3u and pgvector, Python (as root, with apt)
	@tools/deps

venv:  ## make .venv with the server's own Python
	@$(PYTHON) tools/make_venv.py

data: venv  ## put the tokenizer data in place
	@$(PYTHON) tools/tokenizer_data.py

install: data  ## install the extension and its Python package into the server
	@$(PYTHON) tools/install.py

serve: install  ## start a private server for this checkout; the last line is its connection string
	@$(PYTHON) tools/serve.py serve

stop:  ## stop the private server
	@$(PYTHON) tools/serve.py stop

demo: deps install  ## from nothing: prepare, serve, load the markdown below DOCS (default docs), show the chunks
	@$(PYTHON) tools/demo.py "$(DOCS)"

test: deps install  ## run all tests (TESTS=tests/core for a part, JOBS=2 at a time)
	@$(VENV)/python -m pytest -n $(JOBS) --dist loadgroup $(TESTS)

versions:  ## print the versions of everything, for a report
	@$(PYTHON) tools/versions.py

laws: data  ## check the laws of chunking on every file below CORPORA
	@$(VENV)/python tests/laws.py $(CORPORA)

replay: install  ## replay the edits of the file EDITS as UPDATEs: what is queued for embedding, and what is new
	@$(VENV)/python tests/replay.py $(EDITS)

bench: data  ## measure the core against its peers on CORPORA (BENCH_MB=1.5, 0 for all; BENCH_ROUNDS=5)
	@$(VENV)/python bench/environment.py
	@.bench/venv/bin/python bench/core.py $(CORPORA)

lint: data  ## ruff, mypy --strict and the import contracts
	@$(VENV)/ruff check .
	@$(VENV)/mypy
	@$(VENV)/lint-imports

format:  ## let ruff format the Python sources
	@$(VENV)/ruff format .
	@$(VENV)/ruff check --fix .

dist: data  ## build the wheel and the source distribution into dist/
	@$(VENV)/python -m build --no-isolation --outdir dist .

clean: stop  ## remove all that was made here: the private server with its data, .venv, .bench, build/, dist/
	@$(PYTHON) tools/clean.py
