# SPDX-License-Identifier: Apache-2.0
# Entry point of PTO-DV. `make help` lists targets and variables; they call the command line
# `.venv/bin/python -m tb` (also installed as `.venv/bin/pto-dv`).

.DEFAULT_GOAL := run
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SUFFIXES:

# Container images set it. Without bytecode every process compiles what it imports, 0.3 s each.
unexport PYTHONDONTWRITEBYTECODE

# --- variables: the source of `make help` and of the command line's options ---------

SIM ?= verilator

VARIABLES := SIM TEST SEED N OPS DUT PROFILE GM CONSTRAINTS REPRO WAVES TIMELINE CODE_COVERAGE WAVES_FROM \
  WAVES_TO GM_WIDTH LOCAL_WIDTH TAG_WIDTH OUTSTANDING WATCHDOG JSON

SIM.option          := --sim
SIM.default         := verilator
SIM.help            := simulator: verilator, icarus or another one of cocotb
TEST.option         := --test
TEST.default        := random
TEST.help           := test of tb/run/testlist.toml to run, or path/to/file.py:ClassName of your own
SEED.option         := --seed
SEED.default        := 1
SEED.help           := seed of everything random
N.option            := --n
N.default           := the count that tb/run/testlist.toml gives the test
N.help              := number of transactions
OPS.option          := --ops
OPS.default         := all
OPS.help            := ops to send, a comma list such as mte_gm_ub,mte_ub_gm
DUT.option          := --dut
DUT.default         := the reference engines
DUT.help            := manifests of your engines, a comma list; a folder means its dut.toml
PROFILE.option      := --profile
PROFILE.default     := that of the manifests, or seed
PROFILE.help        := seed, a5, or with single knobs: 'a5, alpha = sequential'
GM.option           := --gm
GM.default          := hdl
GM.help             := hdl (the built-in GM, fast) or cocotbext (a Python AXI memory)
CONSTRAINTS.option  := --constraints
CONSTRAINTS.default := none
CONSTRAINTS.help    := Python file that restricts or reweights the random ops
REPRO.option        := --repro
REPRO.default       := none
REPRO.help          := transactions to write as programs, by number: 17,250
WAVES.default       := 0
WAVES.help          := 1 records waves (FST)
TIMELINE.default    := 0
TIMELINE.help       := 1 writes a timeline of all transactions, for Perfetto
CODE_COVERAGE.default := 0
CODE_COVERAGE.help  := 1 counts lines, branches, expressions and toggles of the engines (Verilator)
WAVES_FROM.option   := --waves-from
WAVES_FROM.default  := 0
WAVES_FROM.help     := clock that waves begin with
WAVES_TO.option     := --waves-to
WAVES_TO.default    := the end
WAVES_TO.help       := clock that waves end with
GM_WIDTH.option     := --gm-width
GM_WIDTH.default    := 256, or the widest that all manifests claim
GM_WIDTH.help       := width of the GM bus in bits: 128, 256 or 512
LOCAL_WIDTH.option  := --local-width
LOCAL_WIDTH.default := 256, or the widest that all manifests claim
LOCAL_WIDTH.help    := width of the local memory ports in bits: 128, 256 or 512
TAG_WIDTH.option    := --tag-width
TAG_WIDTH.default   := 8, or the widest that all manifests claim
TAG_WIDTH.help      := width of a tag in bits, 1 to 16
OUTSTANDING.option  := --outstanding
OUTSTANDING.default := 16
OUTSTANDING.help    := most AXI bursts in flight in each direction, 1 to 64
WATCHDOG.option     := --watchdog-clocks
WATCHDOG.default    := that of the manifests, or 200000
WATCHDOG.help       := clocks in which nothing moves that count as a hang
JSON.option         := --json
JSON.default        := a file below sim_build
JSON.help           := where to write the result record

# Of make nightly, which takes SEED, DUT and PROFILE, too.
NIGHT_VARIABLES := REGRESSION SEEDS JOBS BUDGET FARM RESULTS PLAN FRESH KEEP ITEMS MAX_FAIL RETAIN DRY_RUN

REGRESSION.option  := --regression
REGRESSION.default := nightly
REGRESSION.help    := regression of tb/regress/plan/testplan.toml
SEEDS.option       := --seeds
SEEDS.default      := 5
SEEDS.help         := seeds of each random test
JOBS.option        := --jobs
JOBS.default       := one for each processor core
JOBS.help          := runs at a time
BUDGET.option      := --budget
BUDGET.default     := none
BUDGET.help        := time for all of it, such as 30m or 1h30m
FARM.option        := --farm
FARM.default       := processes on this machine
FARM.help          := farm file: workers and database, see docs/farm.md
RESULTS.option     := --db
RESULTS.default    := sim_build/nightly/results.db
RESULTS.help       := URL of the results database
PLAN.option        := --plan
PLAN.default       := tb/regress/plan/testplan.toml
PLAN.help          := testplan with the regression
ITEMS.option       := --items
ITEMS.default      := all
ITEMS.help         := runs to do, a comma list of names with * and ?, such as random-*
MAX_FAIL.option    := --max-fail
MAX_FAIL.default   := 0
MAX_FAIL.help      := failing runs after which no other one begins, 0 for any number
RETAIN.option      := --retain
RETAIN.default     := 0
RETAIN.help        := regression runs to keep of each regression, older ones are removed at the end; 0 for all
DRY_RUN.default    := 0
DRY_RUN.help       := 1 lists the runs with their commands, and runs nothing
FRESH.default      := 0
FRESH.help         := 1 begins a new regression run even where one is unfinished
KEEP.default       := 0
KEEP.help          := 1 keeps the folders of passing runs

# Of make program, which also takes the variables of a run except those of random ops.
PROGRAM_VARIABLES := PROGRAM SCHEDULES
RUN_ONLY := TEST N OPS CONSTRAINTS REPRO

PROGRAM.default := none
PROGRAM.help    := programs for make program to replay: .pto files, or folders with some
SCHEDULES.option  := --schedules
SCHEDULES.default := none
SCHEDULES.help    := latencies and issue orders to draw for make program; all must leave the same bytes

# Not passed on: these control make itself.
MAKE_VARIABLES := ARGS FULL STRICT PTO_SHARE SINCE PYTHON PTO_NO_INSTALL PTO_BUILDS

STRICT.default         := 0
STRICT.help            := of make bench: 1 ends with 3 where a must of the budget is missed
ARGS.default           := none
ARGS.help              := more options for pytest (make test), make program, make qualify and make prove-arith, names of checks (make lint), engines (make synth) or units (make prove-rtl)
PYTHON.default         := the first suitable one of python3.11, python3, ...
PYTHON.help            := Python 3.11 or newer that creates .venv
PTO_NO_INSTALL.default := empty
PTO_NO_INSTALL.help    := 1 prevents calls of the system's package client
PTO_BUILDS.default     := ~/.cache/pto-dv
PTO_BUILDS.help        := folder of finished builds, which all checkouts share; at most 2 GiB

FULL.default       := 0
FULL.help          := for make nightly: 1 afterwards plants faults and runs the whole test suite, all shares, and shows the results on its pages
PTO_SHARE          ?= 1/8
PTO_SHARE.default  := 1/8
PTO_SHARE.help     := for make test: share of the long tables, 1/8 to 8/8, or all
SINCE.default      := the last commit, or its parent where nothing differs
SINCE.help         := for make check and make test: commit that your change begins at

# --- passing them on --------------------------------------------------------------------------------

quote = '$(subst ','\'',$(1))'
option = $(if $(and $($(1).option),$(strip $($(1)))),$($(1).option) $(call quote,$(strip $($(1)))))
options = $(strip $(foreach variable,$(1),$(call option,$(variable)) $(call flag,$(variable))))

# Switches: 1 is on, 0 or nothing is off.
SWITCHES := WAVES TIMELINE CODE_COVERAGE FRESH KEEP FULL DRY_RUN STRICT
WAVES.flag         := --waves
TIMELINE.flag      := --timeline
CODE_COVERAGE.flag := --code-coverage
FRESH.flag         := --fresh
KEEP.flag          := --keep
DRY_RUN.flag       := --dry-run
STRICT.flag        := --strict
flag = $(if $(filter 1,$($(1))),$($(1).flag))
$(foreach switch,$(SWITCHES),$(if $(filter-out 0 1,$($(switch))),$(error $(switch) is '$($(switch))': \
  $(switch)=1 enables it, $(switch)=0 or no value disables it)))

QUALIFY := N SEED DUT PROFILE BUDGET JOBS GM_WIDTH LOCAL_WIDTH TAG_WIDTH

# What each target takes. Another variable on the command line is an error, since it would have no effect.
TAKES.run         := $(VARIABLES)
TAKES.program     := $(filter-out $(RUN_ONLY),$(VARIABLES)) $(PROGRAM_VARIABLES) ARGS
TAKES.check       := SINCE ARGS
TAKES.test        := PTO_SHARE SINCE ARGS
TAKES.nightly     := $(NIGHT_VARIABLES) SEED DUT PROFILE FULL SINCE ARGS
TAKES.bench       := SEED JSON STRICT
TAKES.prove-arith := ARGS
TAKES.prove-rtl   := ARGS
TAKES.qualify     := $(QUALIFY) ARGS
TAKES.synth       := ARGS
TAKES.lint        := ARGS
TAKES.doctor      := JSON
TAKES.always      := PYTHON PTO_NO_INSTALL PTO_BUILDS PTO_FRESH_SEED SHELL

GOALS := $(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))
TAKEN := $(sort $(foreach goal,$(GOALS) always,$(TAKES.$(goal))))
GIVEN := $(foreach variable,$(.VARIABLES),$(if $(filter command,$(origin $(variable))),$(variable)))
UNKNOWN := $(firstword $(filter-out $(TAKEN),$(GIVEN)))
NEAREST = $(shell python3 -c 'import difflib, sys; print(*difflib.get_close_matches(sys.argv[1].upper(), sys.argv[2:], 1))' \
  $(call quote,$(UNKNOWN)) $(TAKEN) 2>/dev/null)
$(if $(UNKNOWN),$(error make $(GOALS) has no variable $(UNKNOWN)$(or $(NEAREST:%=; did you mean %?),.) \
  It takes $(TAKEN); make help describes them))

# --- checks before anything is installed, built or simulated ----------------------------------------

TARGETS := run program check test nightly bench prove-arith prove-rtl qualify lint synth doctor licenses \
  setup help clean distclean icarus fst force
NO_TARGET := $(firstword $(filter-out $(TARGETS) .venv/%,$(GOALS)))
CLOSE = $(shell python3 -c 'import difflib, sys; print(*difflib.get_close_matches(sys.argv[1], sys.argv[2:], 1))' \
  $(call quote,$(NO_TARGET)) $(TARGETS) 2>/dev/null)
$(if $(NO_TARGET),$(error make has no target $(NO_TARGET)$(or $(CLOSE:%=; did you mean %?),.) \
  Legal are $(TARGETS); make help describes them))

# Makefiles of Verilator, scripts of Yosys and recipes have the path of the checkout without quotes.
$(if $(shell case "$$PWD" in (*[[:space:]\'\"\$$\`\\\;\&\|\<\>\(\)\*\?\#\!:{}]*) echo no;; esac),$(error the path \
  of the checkout is '$(CURDIR)', with a character that Verilator or make cannot take. \
  Legal are letters, digits and -/._+@%,=~: move the checkout))

SUITABLE := import sys; sys.exit(sys.version_info < (3, 11))
$(if $(PYTHON),$(if $(filter 0,$(shell $(call quote,$(PYTHON)) -c '$(SUITABLE)' >/dev/null 2>&1; echo $$?)),,$(error \
  PYTHON is '$(PYTHON)', which is missing or older than 3.11. Name Python 3.11 or newer, or leave PYTHON out)))

# Without a Python that can, set-up ends with an error of its own.
CHECKED := JSON PTO_BUILDS PTO_SHARE CONSTRAINTS SINCE ARGS
$(if $(shell for python in $(call quote,$(PYTHON)) python3.11 python3 python3.12 python3.13 python3.14; do \
  [ -f tb/setup/arguments.py ] && "$$python" -c '$(SUITABLE)' >/dev/null 2>&1 || continue; \
  "$$python" -B -m tb.setup.arguments $(firstword $(GOALS)) \
    $(foreach name,$(CHECKED),$(call quote,$(name)=$($(name)))) >&2 || echo no; break; done),$(error nothing was done))

# Our variables and make's own must not reach the simulators' makefiles, nor cocotb, which reads WAVES.
PY := env -u PYTHONHOME -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL $(VARIABLES:%=-u %) $(NIGHT_VARIABLES:%=-u %) $(PROGRAM_VARIABLES:%=-u %) $(patsubst %,-u %,$(filter-out PTO_%,$(MAKE_VARIABLES))) .venv/bin/python

# --- set-up: stamps in .venv record the installed packages; tb/setup/install.py writes those of lock files ---

BASE := .venv/.pto-dv-base
VERILATOR := .venv/.pto-dv-verilator
LINT := .venv/.pto-dv-lint
CLUSTER := .venv/.pto-dv-farm
TESTS := .venv/.pto-dv-tests

# A copied or half deleted .venv is set up again: an editable install points to where it was made.
ifneq ($(wildcard .venv/bin/python) $(file <$(BASE)),.venv/bin/python $(CURDIR))
  $(BASE): force
endif

$(BASE): requirements.lock pyproject.toml
	@for python in $(PYTHON) python3.11 python3 python3.12 python3.13 python3.14; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    "$$python" -m tb.setup.install venv && .venv/bin/python -m tb.setup.install libpython && \
	      printf '%s\n' $(call quote,$(CURDIR)) >$@; \
	    exit; \
	  fi; \
	done; \
	echo 'error: no Python 3.11 or newer found: install python3.11, or name one with PYTHON=/path/to/python' >&2; \
	exit 2

$(VERILATOR): $(BASE) requirements-verilator.lock
	@$(PY) -m tb.setup.install verilator
	@touch $@

$(LINT): $(BASE) requirements-lint.lock
	@$(PY) -m tb.setup.install lint

$(CLUSTER): $(BASE) requirements-farm.lock
	@$(PY) -m tb.setup.install farm

$(TESTS): $(BASE) requirements-test.lock
	@$(PY) -m tb.setup.install tests

.PHONY: force run program check test nightly bench prove-arith prove-rtl qualify lint synth doctor licenses setup help clean distclean icarus fst

force:

# Prerequisites of a simulator; an unknown SIM is rejected by the command line.
SETUP_verilator := $(VERILATOR) $(if $(filter 1,$(WAVES)),fst)
SETUP_icarus := icarus

icarus: $(BASE)
	@$(PY) -m tb.setup.install icarus

fst: $(BASE)
	@$(PY) -m tb.setup.install fst

# --- targets --------------------------------------------------------------------------------------

run: $(BASE) $(SETUP_$(SIM)) ## the main job: random transactions on the RTL, checked (the default)
	@$(PY) -m tb run $(call options,$(VARIABLES))

# Two workers; the one that is done first takes over tests of the other.
PYTEST = -m pytest tests -n 2 --dist worksteal $(if $(SINCE),--since $(call quote,$(SINCE)))

program: $(BASE) $(SETUP_$(SIM)) ## replay PROGRAM=x.pto on the RTL, ARGS="--arg 0=in.npy --out 1=out.npy"
	@$(PY) -m tb program $(PROGRAM) $(call options,$(filter-out $(RUN_ONLY),$(VARIABLES)) SCHEDULES) $(ARGS)

check: $(BASE) $(VERILATOR) $(TESTS) icarus ## the short tests that your change reaches, in a minute
	@$(PY) $(PYTEST) --check $(ARGS)

test: $(BASE) $(VERILATOR) $(CLUSTER) $(TESTS) icarus fst ## the test suite on both simulators, a share of its long tables
	@PTO_SHARE=$(call quote,$(PTO_SHARE)) $(PY) $(PYTEST) $(ARGS)

# Results of the test suite and of planted faults, for the pages of a night; of one that did not begin
# (2) there are none. Faults that are not found (1) and those left over (3) are results.
SUITE := sim_build/nightly/tests.xml
FOUND := sim_build/qualify/qualify.json

nightly: $(BASE) $(VERILATOR) $(if $(FARM)$(findstring postgres,$(RESULTS))$(filter 1,$(FULL)),$(CLUSTER)) $(if $(filter 1,$(FULL)),$(TESTS)) icarus fst ## a regression over many seeds, with HTML pages
	@$(PY) -m tb nightly $(call options,$(NIGHT_VARIABLES) SEED DUT PROFILE)$(if $(filter 1,$(FULL)), && night=0 || night=$$?; \
	  $(PY) -m tb qualify $(call options,DUT PROFILE) && found=0 || found=$$?; \
	  PTO_SHARE=all $(PY) $(PYTEST) --junitxml=$(SUITE) $(ARGS) && tests=0 || tests=$$?; \
	  case $$found in (0|1|3) faults="--faults $(FOUND)";; (*) faults= tests=$$found;; esac; \
	  [ $$night = 2 ] || $(PY) -m tb report --tests $(SUITE) $$faults $(call options,FARM RESULTS PLAN) || tests=$$?; \
	  [ $$tests != 0 ] || exit $$night; exit $$tests)

bench: $(BASE) $(VERILATOR) ## measure speed; takes SEED, JSON and STRICT
	@$(PY) -m tb bench $(call options,SEED JSON STRICT)

prove-arith: $(BASE) $(VERILATOR) ## the write-back arithmetic against its reference over all inputs
	@$(PY) -m tb prove-arith $(ARGS)

prove-rtl: $(BASE) $(TESTS) ## properties of parts of the engines, proven without a bound, takes ARGS
	@$(PY) -m tb.prove.rtl $(ARGS)

qualify: $(BASE) $(VERILATOR) $(TESTS) ## how many planted faults the bench finds, of N, in the engines or in DUT=
	@$(PY) -m tb qualify $(call options,$(QUALIFY)) $(ARGS)

lint: $(BASE) $(VERILATOR) $(LINT) $(CLUSTER) $(TESTS) icarus ## every static check of Verilog and Python
	@$(PY) -m tb.setup.lint $(ARGS)

synth: $(BASE) $(TESTS) ## cells and longest paths of the engines after synthesis, takes ARGS
	@$(PY) -m tb.setup.synth $(ARGS)

doctor: $(BASE) ## tools found and missing, and how to install them; takes JSON
	@$(PY) -m tb.setup.install verilator || true # the doctor reports what could not be installed
	@$(PY) -m tb doctor $(call options,JSON)

licenses: $(BASE) $(VERILATOR) $(LINT) $(CLUSTER) $(TESTS) ## licence of every Python package that make installs
	@$(PY) -m piplicenses --from=mixed --order=license --with-urls

setup: $(BASE) $(VERILATOR) ## make .venv and install into it, nothing else

clean: ## remove build products and caches; keeps results of regressions
	[ ! -d sim_build ] || find sim_build -mindepth 1 -maxdepth 1 ! -name nightly -exec rm -rf {} +
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis

distclean: clean ## also remove .venv and the results of regressions
	rm -rf sim_build .venv *.egg-info

help: ## this list
	@echo 'make [TARGET] [VARIABLE=value ...]'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  while IFS='|' read -r target text; do printf '  %-15s %s\n' "$$target" "$$text"; done
	@echo
	@printf '  %-15s %s [%s]\n' $(foreach v,$(VARIABLES) $(PROGRAM_VARIABLES) $(NIGHT_VARIABLES) $(MAKE_VARIABLES), \
	  '$(v)' $(call quote,$($(v).help)) $(call quote,$($(v).default)))
