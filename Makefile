# The commands of this project. CI (.ci/run) calls exactly these.
#   PYTHON=python3.12 make venv     another Python
#   make test PYTEST_ARGS="-k cond" a part of the tests
#   make test AGAIN=1               what fails runs once more, alone
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
PEER115 ?= .venv-tf115
PEER221 ?= .venv-tf221
TENSORBOARD ?= .venv-tensorboard
UCX ?= .venv-ucx
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Each index of a compiled loop is looked at.
CHECKED = NUMBA_BOUNDSCHECK=1
# With AGAIN=1 the tests that failed run once more, alone. What other work on the machine
# caused is gone then, a fault is not. Both runs print what failed.
failed-again = $(if $(AGAIN),|| { test $$? -eq 1 && \
	echo "once more and alone: what failed above" && \
	$(BIN)/python -m pytest -q --last-failed --last-failed-no-failures none $(1); })
export PEER115 PEER221
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Who installs system packages: root does without sudo.
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m pip install virtualenv && $(PYTHON) -m virtualenv $(VENV); }

$(VENV)/.user: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV): a minute or two, most of it PyTorch"
	@$(INSTALL) -e '.[examples,serving]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing into $(VENV): a minute or two, most of it PyTorch"
	@$(INSTALL) -e '.[examples,export,kafka,serving,otel,dev]'
	@touch $@ $(VENV)/.user

.PHONY: venv
venv: $(VENV)/.dev ## the virtual environment .venv with every tool

.PHONY: demo
demo: $(VENV)/.user ## the whole life of a model of digits; a killed run goes on
	@$(BIN)/python examples/digits_life.py

.PHONY: demo-serve
demo-serve: $(VENV)/.user ## digits behind a model server, whose versions change under load
	@$(BIN)/python examples/digits_serve.py

.PHONY: examples
examples: $(VENV)/.user ## train each example to the quality that it promises; ONLY=REGEX
	@$(BIN)/python tools/train_examples.py $(if $(ONLY),--only '$(ONLY)')

.PHONY: simulation-figures
simulation-figures: $(VENV)/.user ## the pictures of docs/simulation.md
	@$(BIN)/python -m tools.simulation_figures

.PHONY: test
test: $(VENV)/.dev ## the tests that need nothing but Python
	$(CHECKED) OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto $(PYTEST_ARGS) $(call failed-again)

.PHONY: test-all
test-all: $(VENV)/.dev ## slow and multi-process tests too
	$(BIN)/python -m pytest -q -m "not peer and not browser and not engines and not capi and not clients and not compiler and not tensorboard and not ucx" $(PYTEST_ARGS)

.PHONY: test-page
test-page: $(VENV)/.dev ## the pages in headless Chromium, which it installs
	command -v chromium || $(SUDO) apt-get install -y --no-install-recommends chromium
	$(BIN)/python -m pytest -q -m browser $(PYTEST_ARGS)

.PHONY: test-tensorboard
test-tensorboard: $(VENV)/.dev ## TensorBoard, in an environment of its own, shows what we write
	command -v chromium || $(SUDO) apt-get install -y --no-install-recommends chromium
	test -e $(TENSORBOARD)/.with-profiler || { $(PYTHON) -m venv $(TENSORBOARD) && \
		$(TENSORBOARD)/bin/python -m pip install --quiet 'tensorboard==2.21.*' 'playwright>=1.50' \
			'tensorboard-plugin-profile==2.24.*' && \
		touch $(TENSORBOARD)/.with-profiler; }
	$(BIN)/python -m pytest -q -m tensorboard $(PYTEST_ARGS)

.PHONY: test-engines
test-engines: $(VENV)/.dev ## locks and launchers on ZooKeeper, etcd, Redis, Ray, which it installs
	command -v redis-server && command -v etcd && test -e /usr/share/java/zookeeper.jar || \
		$(SUDO) apt-get install -y --no-install-recommends zookeeper etcd-server redis-server
	$(INSTALL) -e '.[locks,ray]'
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m engines $(PYTEST_ARGS)

.PHONY: test-ucx
test-ucx: $(VENV)/.dev ## large tensors over UCX, in an environment beside .venv
	test -e $(UCX)/.complete || { $(BIN)/python -m venv $(UCX) && \
		$(UCX)/bin/python -m pip install --quiet -c constraints.txt 'ucxx-cu12>=0.52' && \
		$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
			> $$($(UCX)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tensorloom.pth && \
		touch $(UCX)/.complete; }
	PYTHONPATH=. OMP_NUM_THREADS=1 $(UCX)/bin/python -m pytest -q -m ucx tests/transport tests/cluster/test_networks.py $(PYTEST_ARGS)

.PHONY: test-compiled
test-compiled: $(VENV)/.dev ## marked operations as machine code; needs g++, which it installs
	command -v $${CXX:-g++} || $(SUDO) apt-get install -y --no-install-recommends g++
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -m compiler $(PYTEST_ARGS)

.PHONY: capi
capi: $(VENV)/.user ## the C API: build/capi/lib/libtensorloom.so, and its headers
	$(BIN)/python tools/build_capi.py --cc '$(CC)'

.PHONY: test-capi
test-capi: $(VENV)/.dev peer ## programs in C with this library and with TensorFlow's
	$(BIN)/python -m pytest -q -m capi tests/capi $(PYTEST_ARGS)

.PHONY: fuzz
fuzz: $(VENV)/.dev ## N random programs: passes, devices, plain runs; PEER=1 for 1.15
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz $(or $(N),10000) $(if $(FIRST),--first $(FIRST)) $(if $(PEER),--peer)

.PHONY: lint
lint: $(VENV)/.dev ## format, style, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_layout.py

.PHONY: format
format: $(VENV)/.dev ## rewrite the files in the project's style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: peer
peer: ## environments with real TensorFlow 1.15 and 2.21
	@tools/peer_environments.sh "$(PYTHON)" "$(PEER115)" "$(PEER221)"

.PHONY: test-peer
test-peer: $(VENV)/.dev peer ## the same programs here and in real TensorFlow
	$(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist worksteal -m peer tests/peer $(PYTEST_ARGS) $(call failed-again,-m peer tests/peer)

.PHONY: bench
bench: $(VENV)/.dev peer ## side by side with TensorFlow; JSON=FILE ONLY=REGEX REPEATS=N
	$(BIN)/python -m benchmarks $(if $(JSON),--json '$(JSON)') $(if $(ONLY),--only '$(ONLY)') $(if $(REPEATS),--repeats $(REPEATS))

.PHONY: gpu-check
GPU_PYTHON ?= $(BIN)/python
gpu-check: $(if $(filter $(BIN)/python,$(GPU_PYTHON)),$(VENV)/.dev) ## GPU kernels, copies, steps; GPU_PYTHON=a Python with CUDA's torch
	$(GPU_PYTHON) -m tests.gpu $(GPU_ARGS)

.PHONY: docs
docs: $(VENV)/.dev ## write the generated pages of docs/
	$(BIN)/python tools/compatibility_page.py docs/compatibility.md

.PHONY: figures
figures: $(VENV)/.dev ## write docs/figures.md and README's table of a run; JSON='FILES of bench'
	PYTHONPATH=. $(BIN)/python tools/figures_page.py $(JSON)

.PHONY: docs-site
docs-site: $(VENV)/.dev ## all pages and the reference as a site: build/docs-site/site
	$(INSTALL) -e '.[docs]'
	$(BIN)/python tools/documentation_site.py build/docs-site
	PYTHONPATH=. NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --config-file build/docs-site/mkdocs.yml

.PHONY: protos
protos: $(VENV)/.dev ## generate the *_pb2 modules from tensorloom/protos/*.proto
	$(BIN)/python tools/generate_protos.py

# Those that are built and tested.
LANGUAGES ?= c go javascript cpp java rust
.PHONY: clients-tools
clients-tools: ## the compilers and interpreters that the clients need
	tools/clients_tools.sh $(LANGUAGES)

.PHONY: clients
clients: $(VENV)/.dev capi ## write the clients' wrappers of operations
	tools/clients_wrappers.sh $(BIN)/python $(LANGUAGES)

.PHONY: test-clients
test-clients: clients-tools clients peer ## the clients in C, Go and so on, each with the conformance suite; LANGUAGES="c go"
	$(BIN)/python clients/conformance/run.py --peers --write docs/clients.md --only '$(LANGUAGES)'

.PHONY: clean
clean: ## remove what these commands made, environments included
	rm -rf .venv .venv-tf115 .venv-tf221 .venv-tensorboard .venv-ucx build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache digits digits.png
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
