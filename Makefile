# Eunoe. `make` alone prints what there is.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Downloaded first: a module that is not there has no directory yet.
SQLITE_DIR = $(shell go mod download github.com/mattn/go-sqlite3 && go list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)
export CGO_ENABLED := 1
export GOFLAGS := -tags=sqlite_fts5
export CGO_CFLAGS = -I$(CURDIR)/internal/sqlitebuild/include -I$(SQLITE_DIR) -O2

BINARIES := eunoe ingest extractor consolidator query gateway
LINT := $(CURDIR)/bin/tools/golangci-lint

.PHONY: help eunoe-bench demo build dist test figures planted faults outages soak fuzz check static lint vet race floors tidy fmt bench clean libraries lines

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## a conversation becomes memory and answers, in one command
	@bin/eunoe demo

build: libraries ## all binaries into bin/
	@mkdir -p bin
	@for b in $(BINARIES); do go build -o bin/$$b ./cmd/$$b; done
	@echo "built: $(addprefix bin/,$(BINARIES))"

eunoe-bench: libraries ## the program that measures, into bin/
	@mkdir -p bin
	@go build -o bin/eunoe-bench ./bench

# The programs that hold SQLite are linked with the machine's C library, the others with none: file names say for which
# system and machine. What the archive holds depends on the revision alone.
VERSION := $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' internal/app/process/version.go)
PLATFORM = $(shell go env GOOS)-$(shell go env GOARCH)
NAME = eunoe-$(VERSION)-$(PLATFORM)
CGO_PROGRAMS := eunoe consolidator query
SBOM := $(CURDIR)/bin/tools/cyclonedx-gomod

dist: libraries $(SBOM) ## archive of the programs with manual pages and completions, its SBOM and checksums, into dist/
	@rm -rf dist && mkdir -p dist/$(NAME)/bin dist/$(NAME)/man/man1 dist/$(NAME)/completion
	@for b in $(BINARIES); do \
		case " $(CGO_PROGRAMS) " in *" $$b "*) cgo=1;; *) cgo=0;; esac; \
		CGO_ENABLED=$$cgo go build -trimpath -ldflags "-s -w" -o dist/$(NAME)/bin/$$b ./cmd/$$b; done
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 0) dist/$(NAME)/bin/eunoe man dist/$(NAME)/man/man1
	@for s in bash zsh fish; do dist/$(NAME)/bin/eunoe completion $$s > dist/$(NAME)/completion/eunoe.$$s; done
	@cp LICENSE README.md CHANGELOG.md dist/$(NAME)/
	@cp pkg/text/class/LICENSES dist/$(NAME)/LICENSES.words
	@tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@$$(git log -1 --format=%ct 2>/dev/null || echo 0) -C dist -cf - $(NAME) | gzip -n > dist/$(NAME).tar.gz
	@$(SBOM) bin -json -licenses -notimestamp -noserial -version v$(VERSION) -output dist/$(NAME).cdx.json dist/$(NAME)/bin/eunoe
	@rm -rf dist/$(NAME)
	@cd dist && sha256sum $(NAME).* > SHA256SUMS && cat SHA256SUMS

$(SBOM): tools/sbom/go.mod
	@mkdir -p $(dir $(SBOM))
	@cd tools/sbom && GOFLAGS= CGO_ENABLED=0 go build -o $(SBOM) github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

libraries:
	@command -v go >/dev/null || { echo "Go 1.26 or newer is needed: https://go.dev/dl/"; exit 1; }
	@command -v $${CC:-cc} >/dev/null || { echo "A C compiler is needed (gcc or clang), for SQLite."; exit 1; }
	@echo "compiling SQLite and the libraries (about a minute the first time, then cached)"
	@go mod download
	@go build github.com/mattn/go-sqlite3 github.com/nats-io/nats-server/v2/server ./pkg/store/sqlite

# Tests wait for brokers, processes and leases more than they compute: twice as many packages run at a time as there are
# cores, those that take longest first. Without EUNOE_BENCH_DIR recall is not measured: `make figures` measures it alone.
PACKAGES = ./test/e2e ./test/faults ./test/llm ./pkg/store/postgres ./bench ./pkg/store/sqlite ./...
# Files of tests are in memory where there is room (they take less than 1 GiB) and programs may run from there. A killed process loses as little there as
# on a disk, whose syncs are most of the waiting and a quarter of the processor time. Tests hold little: the garbage
# collector, which follows what is held, may wait for more.
IN_MEMORY := $(shell ! grep -q ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts 2>/dev/null && [ "$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 {print $$4}')" -gt 4194304 ] 2>/dev/null && echo TMPDIR=/dev/shm)
TEST := EUNOE_BENCH_DIR= GOGC=400 $(IN_MEMORY) go test -shuffle=on -timeout 20m -p $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

# The packages of the product that share memory between goroutines, and what tests the stages together in one process.
# sync.OnceValue, by which tables are read once, is not among what counts as sharing.
SHARING = ./test/access $(shell grep -rlE --include='*.go' --exclude='*_test.go' \
	'^\s+go [a-z]|\bsync\.(Mutex|RWMutex|WaitGroup|Map|Pool|Once)\b|"(sync/atomic|golang.org/x/sync/errgroup)"' pkg internal cmd | xargs -n1 dirname | sort -u | sed 's|^|./|')
# The tests of whole pipelines in which many requests, writes and processes meet; all of test/e2e takes four times as long.
MEETING = 'TestRecallsDuringIngest|TestRequestsThatRace|TestSettledIsNever|TestChangeEvents|TestProcessesAndOneProcess|TestForgettingKeeps'
OTHERS = ./test/e2e ./test/faults ./test/llm ./pkg/store/postgres ./bench $(shell go list ./... | grep -vxF "$$(go list $(SHARING))")

test: libraries ## every test, in shuffled order; with RACE=1 those of goroutines that share memory under the race detector
	$(TEST) $(if $(RACE),$(OTHERS),$(PACKAGES))
	$(if $(RACE),$(TEST) -race -vet=off $(SHARING))
	$(if $(RACE),$(TEST) -race -vet=off -run $(MEETING) ./test/e2e)

race: libraries ## all tests under the race detector, which takes half an hour, or some: make race PKG=./pkg/ingest
	@echo "compiling SQLite with the race detector (about a minute the first time, then cached)"
	$(TEST) -race $(or $(PKG),$(PACKAGES))

# The figures wait for a broker more than they compute: four of them run at a time.
figures: ## facts, recall, cost and speed against their bounds; conversations and sentences are in EUNOE_BENCH_DIR
	go test -count=1 -p 1 -parallel 4 -timeout 30m -v -run 'Test(RecallOn|TreeO|CostOf|SpeedOf|FactsOf|Figures|SingleSentences|PublishedFacts)' \
		./pkg/client ./pkg/text/date ./pkg/extract/rules ./pkg/consolidate/plan ./test/scriptedmodel ./bench

planted: ## fifty instructions planted in what a model is shown, which obeys each: they come to nothing
	go test -count=1 -run TestPlantedInstructionsComeToNothing ./test/llm

faults: ## kills, stops, cuts and full disks while 34,000 messages are published, then the accounts: make faults SEED=1 SHARDS=1 POSTGRES=
	go test -count=1 -v -timeout 20m -run 'TestFaults$$' ./test/faults -seed $(or $(SEED),1) -shards $(or $(SHARDS),1) $(if $(POSTGRES),-postgres) -faults 67 -messages 34000 -takeovers 10

outages: ## brokers of a cluster are killed, frozen and parted 100 times while 50,000 messages are published: make outages SEED=1
	go test -count=1 -v -timeout 90m -run 'TestOutages$$' ./test/faults -seed $(or $(SEED),1) -outages 100 -outage-messages 50000

soak: ## 500 messages a second to a whole eunoe; its memory and goroutines stay flat: make soak FOR=10m
	go test -count=1 -v -timeout 120m -run 'TestSoak$$' ./test/faults -soak $(or $(FOR),10m)

fuzz: ## every fuzz target, one after the other: make fuzz FOR=2m
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9]+' bench cmd internal pkg | sort | while IFS=: read -r file name; do \
		echo "$${name#func } of $$(dirname $$file)"; \
		go test -run '^$$' -fuzz "^$${name#func }$$" -fuzztime $(or $(FOR),2m) -fuzzminimizetime 1s -parallel 2 "./$$(dirname $$file)" </dev/null; \
	done

check: static race ## everything that reads the code, and every test under the race detector

static: fmt vet lint floors tidy ## gofmt, go vet, the linters, the floors, go mod tidy

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); [ -z "$$out" ] || { echo "gofmt would change:"; echo "$$out"; exit 1; }

vet:
	go vet ./...

lint: $(LINT)
	$(LINT) run ./...

$(LINT): tools/go.mod
	@echo "compiling golangci-lint (a few minutes the first time, then cached)"
	@mkdir -p $(dir $(LINT))
	@cd tools && GOFLAGS= go build -o $(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

floors:
	go test -count=1 ./internal/arch

tidy:
	@GOFLAGS= go mod tidy -diff
	@cd tools && GOFLAGS= go mod tidy -diff
	@cd tools/sbom && GOFLAGS= go mod tidy -diff

bench: ## Go benchmarks, and recall on a dataset: make bench DATASET=FILE
	go test -run '^$$' -bench . -benchtime 200ms ./pkg/...
	@if [ -n "$(DATASET)" ]; then $(MAKE) -s eunoe-bench && bin/eunoe-bench retrieval --dataset "$(DATASET)" --out /dev/null --baseline bm25; fi

lines: ## lines of the product (Go without tests, bench and test support), and of them those with code
	@git ls-files '*.go' | grep -vE '_test\.go$$|^(bench|test)/|/(storetest|natstest|consolidatetest|apptest)/' | xargs cat | \
		awk '{all++} !/^[[:space:]]*(\/\/.*)?$$/ {code++} END {print all " lines, " code " without blank and comment lines"}'

clean: ## remove what was built
	rm -rf bin dist
