# Every target installs what it needs into .venv first; nothing has to be set up by hand.
.DEFAULT_GOAL := help
.PHONY: help demo test test-pythons test-frameworks test-busy test-repeat check installed check-lint check-types \
    check-built check-architecture dashboard format soak bench results clean
PYTHON ?= python3
export PYTHON
RUN := .venv/bin
BENCHMARKS := benchmarks/bench_*.py $(addprefix benchmarks/,ttft.py recording.py evaluate.py store.py many_runs.py calibration.py sequential.py judges.py gate.py api.py load.py breaking_point.py simulation.py cluster.py scale.py commands.py)

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo:  ## Install, put agents on the comprehensive suite, print tables, write an HTML report (MODEL=none: no model)
ifeq ($(MODEL),none)
	@scripts/install.sh plots,prices,service
	@$(RUN)/dyno demo --model none
else
	@scripts/install.sh local,plots,prices,service
	@$(RUN)/dyno model install
	@$(RUN)/dyno demo --model local
endif

# OPTIONS go to pytest, as in: make test OPTIONS="-k boards"
TESTS := $(RUN)/python -m pytest -n 2 --dist worksteal $(OPTIONS)

test:  ## Install and run every test
	@scripts/for_tests.sh
	@$(TESTS)

test-frameworks:  ## Agents of every framework, as `make test` tries those that are small (installs 2 GB)
	@scripts/for_tests.sh
	@scripts/frameworks.sh core more crewai
	@DYNO_FRAMEWORKS=all $(RUN)/python -m pytest tests/agents/frameworks packages/agentdyno-workloads/tests/frameworks

test-pythons:  ## Every test with each of Python 3.11 to 3.13 that is found
	@scripts/for_tests.sh
	@scripts/test_pythons.sh

test-busy:  ## Every test, beside two processes that burn a core each
	@scripts/for_tests.sh
	@scripts/beside_busy.sh $(TESTS)

test-repeat:  ## The tests that start processes or browsers or read a clock, N times beside busy processes (N=20)
	@scripts/for_tests.sh
	@scripts/repeat_timed.sh $(or $(N),20)

check: check-lint check-types check-built check-architecture  ## Lint, types, what is built and architecture (-j2: two at once)

installed:
	@scripts/install.sh dev

check-lint: installed
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .

check-types: installed
	@$(RUN)/mypy

check-built: installed
	@$(RUN)/python scripts/reference.py --check
	@scripts/dashboard.sh --check

check-architecture: installed
	@$(RUN)/python -m pytest -q tests/architecture

dashboard:  ## Build the dashboard into the package
	@scripts/install.sh dev
	@scripts/dashboard.sh

format:  ## Format the code
	@scripts/install.sh dev
	@$(RUN)/ruff check --fix .
	@$(RUN)/ruff format .

soak:  ## The long campaigns (750 random faults; kill -9 at 50 random moments; 200 lost nodes; 200 jobs, killed workers; 5,000 API cases; new examples)
	@scripts/install.sh dev
	@DYNO_SOAK=1 $(RUN)/python -m pytest tests/end_to_end -k "killed and not jobs_survive" -p no:xdist
	@DYNO_SOAK=1 $(RUN)/python -m pytest tests/end_to_end/test_fault_campaign.py -p no:xdist -s
	@DYNO_SOAK=1 $(RUN)/python -m pytest tests/runs/cluster/test_ray.py -k killed -p no:xdist
	@DYNO_SOAK=1 $(RUN)/python -m pytest tests/end_to_end/test_jobs_survive.py tests/web/test_openapi_cases.py -p no:xdist
	@DYNO_SOAK=1 $(TESTS) -m hypothesis --timeout 7200 --ignore tests/web/test_openapi_cases.py

bench:  ## Ours beside peers: prints ratio tables
	@scripts/install.sh dev,peers
	@scripts/load_peers.sh
	@scripts/hyperfine.sh
	@for script in $(BENCHMARKS); do echo "== $$script"; $(RUN)/python $$script || exit 1; done
	@scripts/changepoint_peers.sh
	@echo "== benchmarks/changepoints.py"; PYTHONPATH=src .venv-changepoints/bin/python benchmarks/changepoints.py

results:  ## Measure the workloads anew and write docs/results
	@scripts/install.sh dev
	@packages/agentdyno-workloads/scripts/simulation_results.sh
	@packages/agentdyno-workloads/scripts/framework_results.sh
	@packages/agentdyno-workloads/scripts/polyglot_results.sh
	@packages/agentdyno-workloads/scripts/rl_results.sh

clean:  ## Remove .venv and caches
	rm -rf .venv .venv-changepoints .venv-load .venv-frameworks dashboard/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
