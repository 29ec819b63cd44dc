# Every check and product of quince, one target each; `make` alone lists them.
#
#   VENV=DIR     where the Python environment lives (default: .venv here)
#   TARGET=DIR   where cargo builds (default: $CARGO_TARGET_DIR, else target here)
#   PYTHON=EXE   the Python (3.11 or newer) that makes the environment and checks the licences
#   CARGO=EXE    the cargo to use
#   TASK=PART    of `make bench`: only the tasks whose name contains this
#   SEED=NUMBER  of `make rust-test`: what property tests draw their cases from (default: 7; `random` for new ones)
#   RUNS=COUNT   of `make fuzz`: how many inputs each target gets (default: 1000000)
#   FUZZ=NAMES   of `make fuzz`: only these targets
#
# One build profile, release, serves tests, command, guide and wheel, so that each crate is compiled once.

SHELL := bash
.DEFAULT_GOAL := help
# cargo uses every core by itself
.NOTPARALLEL:

CARGO ?= cargo
PYTHON ?= python3
VENV ?= .venv
ifndef TARGET
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
endif
export CARGO_TARGET_DIR := $(TARGET)
export MAKE

PACKAGE := crates/quince-python
REQUIREMENTS := $(PACKAGE)/requirements.txt
VENV_PYTHON := $(VENV)/bin/python
# The stamp is a copy of the requirements that were installed. It is compared by content, because a fresh clone gives
# every file a new time and would make an old environment look out of date.
STAMP := $(VENV)/quince-requirements.txt

BENCH_VENV ?= bench/.venv
RUST_PEERS := $(TARGET)/rust-peers

SEED ?= 7
RUNS ?= 1000000
FUZZ ?= csv jsonl arff libsvm parquet picture text model
# Coverage without a sanitizer, which stable Rust has.
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares

##@ Everything
.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

.PHONY: test
test: ## all checks in order, closing with the number of tests passed and failed
	@tools/test.sh

.PHONY: check
check: ## format, lints and the unit tests of what differs from the last commit: while editing
	@CARGO="$(CARGO)" tools/check.sh

.PHONY: clean
clean: ## remove everything built, and the Python environments
	$(CARGO) clean --locked
	@for venv in "$(VENV)" "$(BENCH_VENV)"; do if [[ -f "$$venv/pyvenv.cfg" ]]; then rm -rf "$$venv"; fi; done

##@ Rust
.PHONY: fmt
fmt: ## format the Rust code
	$(CARGO) fmt --all

.PHONY: lint
lint: ## formatting and clippy, also of quince without features and with tables alone; warnings refused
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --release --locked -- -D warnings
	$(CARGO) clippy -p quince --release --locked -- -D warnings
	$(CARGO) clippy -p quince --features save,tables --release --locked -- -D warnings
	CARGO="$(CARGO)" $(PYTHON) tools/features.py

# Property tests draw the same cases on every run, so that a red run is the fault of what changed. SEED=random draws others.
.PHONY: rust-test
rust-test: ## unit, integration and documentation tests; SEED=random lets property tests draw new cases
	$(if $(filter-out random,$(SEED)),PROPTEST_RNG_SEED=$(SEED)) $(CARGO) test --workspace --release --locked

.PHONY: small
small: ## quince with each of its features alone, and the unit tests of quince without any
	@set -e; for feature in "" save tables text arrow images ndarray parquet; do \
	  echo "quince with the features: $${feature:-none}"; \
	  $(CARGO) clippy -p quince --features "$$feature" --release --locked -- -D warnings; \
	done
	$(CARGO) test -p quince --release --locked --lib

.PHONY: package
package: ## the library as a package, and its tests as packaged
	@set -e; \
	$(CARGO) package -p quince --locked --allow-dirty --no-verify; \
	folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	tar -xzf "$(TARGET)"/package/quince-*.crate -C "$$folder"; \
	$(CARGO) test --all-features --release --locked --manifest-path "$$folder"/quince-*/Cargo.toml

.PHONY: command
command: ## the command, into release/ where cargo builds
	$(CARGO) build --release --locked -p quince-cli

.PHONY: doc
doc: ## the library's reference, warnings refused
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --release --locked

.PHONY: guide
guide: ## the user's guide, made from docs/
	$(CARGO) run --release --locked -q -p quince-guide -- docs "$(TARGET)/guide"

.PHONY: licences
licences: ## may we ship with every crate we depend on?
	$(PYTHON) tools/licences.py --self-test
	CARGO="$(CARGO)" $(PYTHON) tools/licences.py

##@ Python
.PHONY: venv
venv: ## the pinned Python environment, made again only when its requirements change
	@set -e; \
	if cmp -s "$(REQUIREMENTS)" "$(STAMP)" && "$(VENV_PYTHON)" -c ""; then exit; fi; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "quince needs Python 3.11 or newer")'; \
	echo "making the Python environment $(VENV)"; \
	clear=; if [[ -f "$(VENV)/pyvenv.cfg" ]]; then clear=--clear; fi; \
	$(PYTHON) -m venv $$clear "$(VENV)"; \
	"$(VENV_PYTHON)" -m pip install --quiet --no-deps -r "$(REQUIREMENTS)"; \
	"$(VENV_PYTHON)" -m pip check; \
	cp "$(REQUIREMENTS)" "$(STAMP)"

.PHONY: wheel
wheel: venv ## build the Python package and install it into the environment
	@rm -f "$(TARGET)"/wheels/quince-*.whl
	CARGO="$(CARGO)" "$(VENV)/bin/maturin" build --release --locked -m $(PACKAGE)/Cargo.toml \
	  -i "$(VENV_PYTHON)" --out "$(TARGET)/wheels"
	"$(VENV_PYTHON)" -m pip install --quiet --force-reinstall --no-deps "$(TARGET)"/wheels/quince-*.whl

.PHONY: python-test
python-test: wheel command ## the Python package's tests, on the wheel just built
	"$(VENV_PYTHON)" -m pytest $(PACKAGE)/tests -q
	"$(VENV_PYTHON)" docs/generator/tests/python_examples.py

.PHONY: python-reference
python-reference: wheel guide ## the Python package's reference, into the guide, from the wheel just built
	"$(VENV_PYTHON)" tools/python_reference.py "$(TARGET)/guide"

##@ Speed
.PHONY: bench-venv
bench-venv: wheel ## the environment of the benchmark: its pinned peers, and quince as it is now
	@$(MAKE) --no-print-directory venv VENV="$(BENCH_VENV)" REQUIREMENTS=bench/requirements.txt
	"$(BENCH_VENV)/bin/python" -m pip install --quiet --force-reinstall --no-deps "$(TARGET)"/wheels/quince-*.whl

.PHONY: bench
bench: bench-venv ## quince and its peers on the same arrays, into bench/RESULTS.md; TASK=knn runs some of the tasks
	CARGO_TARGET_DIR="$(RUST_PEERS)" $(CARGO) build --release --locked --manifest-path bench/rust-peers/Cargo.toml
	"$(BENCH_VENV)/bin/python" bench/run.py --rust-peers "$(RUST_PEERS)/release/rust-peers" $(TASK)

##@ Safety
.PHONY: fuzz
fuzz: ## feed the readers a million mangled files each; FUZZ="csv model" runs some of the targets, RUNS=1000 fewer files
	@command -v "$${CXX:-c++}" > /dev/null || { echo "libFuzzer needs a C++ compiler (Debian: apt-get install g++)"; exit 1; }
	@set -e; \
	host=$$(rustc -vV | sed -n 's/^host: //p'); \
	echo "building the fuzz targets"; \
	RUSTFLAGS="$(FUZZ_FLAGS)" CARGO_TARGET_DIR="$(TARGET)/fuzz" \
	  $(CARGO) build --release --locked --manifest-path fuzz/Cargo.toml --target "$$host"; \
	for name in $(FUZZ); do \
	  echo "fuzzing $$name"; \
	  mkdir -p fuzz/corpus/$$name fuzz/findings; \
	  "$(TARGET)/fuzz/$$host/release/$$name" -runs=$(RUNS) -max_len=4096 -timeout=5 -rss_limit_mb=1024 \
	    -malloc_limit_mb=512 -print_final_stats=1 -artifact_prefix=fuzz/findings/$$name- fuzz/corpus/$$name; \
	done
