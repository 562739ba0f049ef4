# Everything happens in a virtual environment inside the checkout. Needs python3 (3.11 or later), make and git.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed-dev
BENCH := $(VENV)/installed-bench
DOCS := $(VENV)/installed-docs
WARM := $(VENV)/warm
# Arguments for pytest or for the benchmark: make test ARGS="tests/data -x"
ARGS ?=
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

comma := ,

SHELL := /bin/sh
.PHONY: help demo test test-plain test-checked lint check compare bench figures docs wheel test-wheel constraints clean

help:
	@echo "make demo      a minute with a real table: an ensemble, its leaderboard, its report, predictions and why"
	@echo "make test      run the tests"
	@echo "make lint      ruff check, ruff format --check, mypy, import contracts"
	@echo "make check     make lint, the house rules, kernels with bounds checks"
	@echo "make compare   agreement with other libraries (installs them)"
	@echo "make bench     speed against other libraries (installs them)"
	@echo "make docs      the documentation site, in docs/_build/html (installs Sphinx)"
	@echo "make figures   how much there is to read: files, lines, what a row crosses, names"
	@echo "make wheel     build the wheel and the source archive into dist"
	@echo "make test-wheel   make wheel, then try it in an empty environment outside of the checkout"
	@echo "make constraints  write the versions that the server tests with, from this environment"
	@echo "make clean     remove the environment and what the tools left"

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Woodwind needs Python 3.11 or later, this is " + sys.version.split()[0])'
	@echo "making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(STAMP): $(VENV)/made pyproject.toml
	@echo "installing woodwind and its tools into $(VENV), this takes a minute or two"
	@$(PIP) install --editable ".[dev]"
	@touch $@

$(BENCH): $(STAMP)
	@echo "installing the libraries to compare with into $(VENV)"
	@$(PIP) install --editable ".[dev,bench]"
	@touch $@

$(DOCS): $(STAMP)
	@echo "installing what the documentation is built with into $(VENV)"
	@$(PIP) install --editable ".[dev,docs]"
	@touch $@

# Kernels are compiled for this processor once, before the demo, so that its minute is for training.
$(WARM): $(STAMP) $(wildcard woodwind/kernels/*.py woodwind/kernels/*/*.py)
	@echo "compiling the kernels for this processor, once"
	@$(BIN)/woodwind warm --only-job
	@touch $@

# What a newcomer would type, shown as it is run: ten of the thousand loans are kept back, as new ones. Git does not see the folder.
LOANS := examples/data/credit.csv
SHOWN = echo; echo '$$ woodwind $(1)'; $(BIN)/woodwind $(1)

demo: $(WARM)
	@mkdir -p demo
	@head -n 991 $(LOANS) > demo/loans.csv
	@(head -n 1 $(LOANS); tail -n 10 $(LOANS)) > demo/new.csv
	@$(call SHOWN,fit demo/loans.csv --target credit --time 60 -o demo/loans.ww$(ARGS:%= %))
	@$(call SHOWN,predict demo/loans.ww demo/new.csv --proba --keep purpose$(comma)amount$(comma)credit)
	@$(call SHOWN,explain demo/loans.ww demo/new.csv --row 2 -o demo/why.html --force)
	@echo; echo "Open demo/loans.html in a browser: it is the report. Why the second loan got its probability is drawn in demo/why.html."

test: $(STAMP)
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal $(ARGS)
ifeq ($(ARGS),)
	@$(MAKE) --no-print-directory test-plain
endif

# Kernels once more as plain Python, where an index beyond an array raises as well, and compiled with bounds checks: that compiles
# every kernel anew, for four minutes, so it belongs to `make check`. Status 5: nothing to run.
KERNEL_TESTS := -m pytest -q -n 2 --dist worksteal tests/kernels -m "not compiled"

test-plain: $(STAMP)
	@echo "kernels with the compiler off"
	@NUMBA_DISABLE_JIT=1 $(BIN)/python $(KERNEL_TESTS) || test $$? -eq 5

test-checked: $(STAMP)
	@echo "kernels with bounds checks"
	@NUMBA_BOUNDSCHECK=1 $(BIN)/python $(KERNEL_TESTS) || test $$? -eq 5

# The same four are the hooks of .pre-commit-config.yaml.
lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

check: lint
	@$(BIN)/python -m pytest -q tests/test_house.py
	@$(MAKE) --no-print-directory test-checked

compare: $(BENCH)
	@$(BIN)/python -m pytest -q tests/compare $(ARGS)

# Every script in benchmarks that can be run answers one question; BENCHMARKS=benchmarks/memory.py asks one of them.
BENCHMARKS ?= $(shell grep -l '^if __name__ == "__main__"' benchmarks/*.py)
bench: $(BENCH)
	@set -e; for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python $$script $(ARGS); done

# Warnings of Sphinx are errors; the examples of the gallery are run. ARGS=--fresh begins anew, ARGS=--no-gallery leaves the examples out.
docs: $(DOCS)
	@$(BIN)/python tools/documentation.py $(ARGS)
	@echo "Open docs/_build/html/index.html in a browser."

figures: $(STAMP)
	@$(BIN)/python tools/figures.py

wheel: $(STAMP)
	@rm -f dist/woodwind-*.whl dist/woodwind-*.tar.gz
	@$(BIN)/python -m build --outdir dist . > /dev/null
	@ls -l dist

# PYTHONS="python3.12 python3.13" tries other interpreters.
PYTHONS ?=
test-wheel: wheel
	@$(BIN)/python tools/try_wheel.py dist/woodwind-*.whl $(PYTHONS:%=--python %) $(ARGS)

constraints: $(STAMP)
	@(echo "# Versions that the server tests with; \`make constraints\` in a fresh environment writes them anew."; \
	  $(BIN)/python -m pip freeze --exclude-editable --exclude woodwind) > packaging/constraints.new
	@mv packaging/constraints.new packaging/constraints.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist demo docs/_build
