# weir: `make demo` and `make test` need nothing set up but Rust and Node.js.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo web build firmware test soak conformance lint advisories tidy bench peers

WEIR := target/debug/weir
BENCH := target/debug/weir-bench
CODEC_WASM := web/src/formats/codec.wasm
CODEC_SOURCES := $(shell find crates/wasm crates/codec/src exi/src crates/model/src -name '*.rs' -o -name Cargo.toml 2>/dev/null)
WEB_SOURCES := $(shell find web/src web/public -type f -not -name codec.wasm 2>/dev/null) $(wildcard web/*.json web/*.ts web/*.html)
export PATH := $(CURDIR)/build/tools/bin:$(PATH)

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

demo: build ## build, then run the gateway with a simulated heating network: http://127.0.0.1:8080
	$(WEIR) demo $(ARGS)

web: web/dist/index.html ## build the dashboard (where Node.js is)

$(CODEC_WASM): $(CODEC_SOURCES) scripts/wasm scripts/toolchain
	@scripts/wasm

web/dist/index.html: $(WEB_SOURCES) $(CODEC_WASM)
	@if command -v npm >/dev/null; then \
	  cd web && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent --no-audit --no-fund; } \
	  && npm run --silent build && touch dist/index.html; \
	else \
	  echo "no Node.js: the gateway is built without its dashboard"; \
	fi

build: web ## build the gateway
	cargo build --package weir

firmware: ## build the device's images, run one on an emulated board and open its page at http://127.0.0.1:8081
	scripts/firmware
	cargo build --package weir-bench
	$(BENCH) board $(ARGS)

peers: ## install the foreign clients and servers that tests talk to
	scripts/peers

test: peers web ## every test: Rust, dashboard, browser, foreign clients
	scripts/test

soak: peers ## hours of it: 1,000 kills, faults, schedules, every fuzz target: make soak ARGS="KILLS SECONDS"
	scripts/soak $(ARGS)

conformance: peers build ## foreign clients against the gateway only
	scripts/test conformance

lint: tidy ## formatting, clippy, house rules and figures, licences
	cargo xtask house --check
	cargo fmt --all --check
	cargo fmt --manifest-path device/firmware/Cargo.toml --check
	for apart in fuzz device/firmware; do cargo metadata --locked --format-version 1 --manifest-path $$apart/Cargo.toml >/dev/null; done
	cargo clippy --quiet --workspace --all-targets -- -D warnings
	bash -n scripts/peers scripts/release scripts/soak scripts/sums scripts/test fuzz/all fuzz/build fuzz/run .ci/run
	cargo xtask licences

tidy: ## import arrows, orphans, lengths
	cargo xtask tidy

advisories: ## known vulnerabilities of dependencies (needs the network), and licences once more, by cargo-deny
	command -v cargo-deny >/dev/null || cargo install --quiet --root build/tools --locked cargo-deny
	cargo deny --log-level error check

bench: build ## build the bench too and measure this machine: make bench, or make bench ARGS="gateway --quick"
	cargo build --package weir-bench
	$(BENCH) run $(or $(ARGS),gateway)
