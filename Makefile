# Everything a developer does, by name. "make" alone lists the targets.

# What the tests run on, and how. Override on the command line: make test PKGS=./docx/... RACE=
PKGS      ?= ./...
TIMEOUT   ?= 40m
FUZZTIME  ?= 30s
BENCH     ?= .
CLDR      ?= 48.2.0

# Development tools have modfiles of their own, so that the product's go.mod names only what the product needs.
SQLC          = go tool -modfile=tools/sqlc/go.mod sqlc
GOLANGCI_LINT = go tool -modfile=tools/lint/go.mod golangci-lint
GOTESTSUM     = go tool -modfile=tools/gotestsum/go.mod gotestsum

.DEFAULT_GOAL := help
.PHONY: help quickstart build test test-all test-deps check generate cldr lint fuzz bench bench-peers clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  PKGS=./docx/...  limits test, test-all, and bench to some packages"
	@echo "  FUZZTIME=5m      is spent on each fuzz target              BENCH=Execute  chooses benchmarks"

quickstart: ## Start a server with an example template and data, and say what to try
	go run . quickstart

build: ## Build the server and command line: one file, bin/platen, for any Linux with glibc
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/platen .

test: test-deps check ## Install what the tests need, check the sources, run every test in its short form
	TMPDIR=$$(scripts/test-tmp) $(GOTESTSUM) --format=pkgname --format-hide-empty-pkg -- -short -vet=off -timeout=$(TIMEOUT) $(PKGS)

test-all: test-deps check ## Run every test in its long form, with the race detector
	$(GOTESTSUM) --format=pkgname --format-hide-empty-pkg -- -race -vet=off -timeout=$(TIMEOUT) $(PKGS)

test-deps: ## Install what the tests need besides Go (PostgreSQL, LibreOffice, poppler, qpdf, readers of codes, gcc)
	@scripts/test-deps

check: ## Check the sources: gofmt and go vet
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then \
		echo "not formatted; run gofmt -w on:"; echo "$$unformatted"; exit 1; fi
	go vet ./...

generate: ## Write the Go code of the SQL queries and the client again
	$(SQLC) generate
	go test ./server -run='^TestClientIsGenerated$$' -update-client

cldr: ## Write the tables of docx/locale again from Unicode's CLDR, which it installs from npm
	@scripts/cldr $(CLDR)

lint: ## Run golangci-lint and vale (the first run builds them, about 3 minutes)
	$(GOLANGCI_LINT) run
	scripts/lint-prose

fuzz: ## Run every fuzz target for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

bench: ## Run the benchmarks, each beside the floor it is measured against
	go test -run='^$$' -bench='$(BENCH)' -benchmem $(PKGS)

bench-peers: ## Compare the engine's speed with docxtemplater and Carbone (installs them from npm)
	@scripts/bench-peers/run

clean: ## Remove what was built
	rm -rf bin
