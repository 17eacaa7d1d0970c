# Every command a developer needs. ARGS is passed on: make run ARGS="--port 8080", make test ARGS="-k inbox".
SHELL := bash
PYTHON ?= python3
# More than the cores of a small machine, because many tests wait. Each worker takes ten seconds to start.
WORKERS ?= 4
ARGS ?=
BIN := .venv/bin

# Runs a command and says how long it took.
stage = @echo "== $(1)"; TIMEFORMAT="== $(1): %1R s"; time $(2)

.PHONY: help setup setup-dev run test storm guests web web-types check check-quickly format bench release docs deploy-check lock clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make .venv with the majlis command in .venv/bin, build the web app
	@$(PYTHON) -m tools.setup

setup-dev:
	@$(PYTHON) -m tools.setup --dev

run: setup ## start the server; options in ARGS
	@exec $(BIN)/majlis serve $(ARGS)

# Browser tests mostly wait, so they run in parallel with the others, which have a lower priority. With worksteal a
# worker that has finished takes tests from another, so that no core is idle at the end.
test: check-quickly ## check, then all tests; pytest options in ARGS leave out the web app's
	@mkdir -p .mypy_cache; log=.mypy_cache/web.log; \
	$(if $(ARGS),true,($(BIN)/python -m tools.web test > $$log 2>&1; code=$$?; echo; cat $$log; exit $$code)) & web=$$!; \
	echo "== mypy$(if $(ARGS),, (the web app's tests run in parallel; their output follows))"; \
	nice $(BIN)/mypy && echo "== pytest" && nice $(BIN)/pytest -n $(WORKERS) --dist worksteal $(ARGS); rest=$$?; \
	wait $$web || { echo "== the web app's tests failed; the last lines of their output again"; tail -n 60 $$log; rest=1; }; \
	rm -f $$log; exit $$rest

storm: setup-dev ## real processes under real faults; ARGS="--minutes 30 --seed 7"
	@$(BIN)/python -m tests.storms $(ARGS)

guests: setup-dev ## the doors with third-party programs, which it installs; pytest options in ARGS
	@$(BIN)/python -m tests.guests $(ARGS)

web: setup-dev ## the web app's own tests, in a real browser too; vitest options in ARGS
	$(call stage,web check,$(BIN)/python -m tools.web check)
	$(call stage,web,$(BIN)/python -m tools.web test $(ARGS))

web-types: setup-dev ## generate the TypeScript client's types from the API
	@$(BIN)/python -m tools.web generate
	@$(BIN)/python -m tests.docs.reference

check: check-quickly ## lint, format, types, imports, prose
	$(call stage,mypy,$(BIN)/mypy)

check-quickly: setup-dev
	$(call stage,ruff check,$(BIN)/ruff check)
	$(call stage,ruff format,$(BIN)/ruff format --check)
	$(call stage,lint-imports,$(BIN)/lint-imports)
	$(call stage,voice,$(BIN)/python -m tools.voice)
	$(call stage,web check,$(BIN)/python -m tools.web check)

format: setup-dev ## format the code, with ruff's safe fixes
	@$(BIN)/ruff check --fix --quiet; $(BIN)/ruff format

bench: setup-dev ## measure; options in ARGS
	@$(BIN)/python -m bench $(ARGS)

release: setup ## build what is published into dist/: wheel, sdist, npm package, SBOM, checksums
	@$(BIN)/python -m tools.release

docs: setup ## build the docs site into site/
	@$(BIN)/python -m tools.publish docs

deploy-check: setup ## lint the Dockerfile and the files under deploy/
	@$(BIN)/python -m tools.publish check

lock: setup-dev ## pin the versions of dependencies; ARGS=--upgrade takes newer ones
	@$(BIN)/python -m tools.relock $(ARGS)

clean: ## remove .venv, caches and builds
	rm -rf .venv .venv-guests .venv-publish dist site .site-source .site-built .cache src/majlis/web_dist web/node_modules web/sdk/node_modules web/sdk/dist web/react/dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .schemathesis
	find src tests bench tools -name __pycache__ -type d -prune -exec rm -rf {} +
