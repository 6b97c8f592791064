# Two commands: `make demo` and `make test`. Both set up .venv first; neither needs more than python3, make and git.
PYTHON ?= python3
BIN = .venv/bin
READY = .venv/.ready

.PHONY: demo test check ruff mypy imports long strength bench clean

demo: $(READY)
	$(BIN)/evallearn learn connect_four

test: $(READY) check
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(READY)
	$(MAKE) -s -j 3 ruff mypy imports

ruff:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

mypy:
	$(BIN)/mypy

imports:
	$(BIN)/lint-imports

long: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m long

strength: $(READY)
	$(BIN)/python -m pytest -m strength

bench: $(READY)
	$(BIN)/pip install -q -c constraints.txt -e '.[bench]'
	$(BIN)/evallearn bench speed
	$(BIN)/evallearn bench threads
	$(BIN)/evallearn bench search
	$(BIN)/evallearn bench chance
	$(BIN)/evallearn bench mcts
	$(BIN)/evallearn bench learn

$(READY): pyproject.toml setup.py constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
