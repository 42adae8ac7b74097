# Targets for daily work. `make help` lists them.

GO ?= go

.PHONY: help build test race lint fuzz bench show show-1 show-2 show-3 show-4 show-5 show-6 examples oracle tcoracle big-endian peers clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "%-12s %s\n", $$1, $$2}'

build: ## build the command into bin/
	$(GO) build -o bin/verdict ./cmd/verdict

TESTFLAGS ?=
test: ## everything a change must pass
	$(GO) test $(TESTFLAGS) ./...
	cd examples/library && $(GO) test $(TESTFLAGS) ./...

race: ## the packages with concurrent readers, under the race detector
	$(GO) test -race ./set/... ./nft/ruleset/... ./diag/... ./host/... ./internal/store/... ./internal/cli/nftcmd/...
	$(GO) test -race -run 'Workers|Update|Live|Jobs' ./engine/... ./classify ./internal/cli

lint: ## gofmt, vet (also for arm64 and without assembly), staticcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	GOARCH=arm64 $(GO) vet ./...
	$(GO) vet -tags purego ./...
	cd bench && $(GO) vet ./...
	$(GO) tool staticcheck ./...

FUZZTIME ?= 10s
fuzz: ## each fuzz target for FUZZTIME
	$(GO) run ./internal/show/fuzz -time $(FUZZTIME)

bench: ## the benchmarks of decoding and evaluation
	$(GO) test -run '^$$' -bench 'Decode|Evaluate' -benchmem ./packet ./engine

examples: ## make the example captures anew
	$(GO) run ./examples/makecapture

show: show-1 show-2 show-3 show-4 show-5 show-6 ## all goals: figure, bound, pass or fail

GOALS = VERDICT_GOALS=1 $(GO) test -count=1 -v -timeout 60m ./internal/goals -run

show-1: ## goals of milestone 1: the main job, end to end
	@$(GOALS) '^TestGoal1|^TestReadme' | grep -E 'goal:|^(ok|FAIL|panic)|--- (FAIL|SKIP)'

show-2: ## goals of milestone 2: the whole language, and a drop-in nft
	@$(GOALS) '^TestGoal2' | grep -E 'goal:|^(ok|FAIL|panic)|--- (FAIL|SKIP)'

show-3: ## goals of milestone 3: sets at a million elements
	@$(GOALS) '^TestGoal3' | grep -E 'goal:|^(ok|FAIL|panic)|--- (FAIL|SKIP)'

show-4: ## goals of milestone 4: the kernel's verdict, proven (root; qemu-user)
	@$(GOALS) '^TestGoal4' | grep -E 'goal:|^(ok|FAIL|panic)|--- (FAIL|SKIP)'

show-5: ## goals of milestone 5: ten thousand rules at the price of ten
	@$(GOALS) '^TestGoal5' | grep -E 'goal:|^(ok|FAIL|panic)|--- (FAIL|SKIP)'

show-6: ## goals of milestone 6: tc filter blocks and hardware offload
	@$(GOALS) '^TestGoal6' | grep -E 'goal:|^(ok|FAIL|panic)|--- (FAIL|SKIP)|skipped:'

ORACLE_TIME ?= 1h
oracle: ## random rulesets and packets against the running kernel, for ORACLE_TIME (root)
	VERDICT_REQUIRE=oracle VERDICT_GOALS=1 ORACLE_TIME=$(ORACLE_TIME) $(GO) test -count=1 -v -timeout 0 ./internal/goals -run '^TestGoal4Live$$'

# What must be exact on any machine: all that decides, packs and unpacks.
EXACT = . ./capture ./catalog ./classify ./conntrack ./diag ./engine/... ./host ./iptables ./nft/... ./packet/... ./set/... ./spec ./trace/...
big-endian: ## the packages that must be exact, as a big-endian machine runs them (qemu-user)
	GOARCH=s390x CGO_ENABLED=0 $(GO) test -short -exec qemu-s390x -timeout 60m $(TESTFLAGS) $(EXACT)

TCORACLE_DIR ?= $(HOME)/.cache/verdict/tcoracle
TCORACLE_N ?= 200
TCORACLE_SEED ?= $(shell date +%s)
TCORACLE_TIME ?= 20m
tcoracle: ## TCORACLE_N fresh random tc cases against Debian's kernel in qemu (root, network, about 350 MB in TCORACLE_DIR)
	VERDICT_GOALS=1 TCORACLE=1 TCORACLE_DIR=$(TCORACLE_DIR) TCORACLE_N=$(TCORACLE_N) TCORACLE_SEED=$(TCORACLE_SEED) TCORACLE_TIME=$(TCORACLE_TIME) \
		$(GO) test -count=1 -v -timeout 0 ./internal/goals -run '^TestGoal6FreshVerdicts'

PEERS ?= bin/peers
peers: ## build what `verdict bench --peers bin/peers` measures beside it (rte_acl: Debian's libdpdk-dev)
	@mkdir -p $(PEERS)
	cd bench && $(GO) build -o $(abspath $(PEERS))/ ./...
	@if ! pkg-config --exists libdpdk 2>/dev/null; then \
		echo "rte_acl is not built: there is no libdpdk here (Debian: apt-get install pkg-config libdpdk-dev)"; \
	elif ! command -v $(CC) >/dev/null; then \
		echo "rte_acl is not built: there is no C compiler $(CC) (Debian: apt-get install gcc)"; \
	else \
		$(CC) -O3 -march=native -Wall $$(pkg-config --cflags libdpdk) bench/rte_acl/main.c $$(pkg-config --libs libdpdk) -o $(PEERS)/rte_acl; \
	fi

clean: ## remove what was built
	rm -rf bin
