# Every target is a line or two; `make test` is all that CI runs.
.POSIX:
.PHONY: build lean test vet lint race fuzz vuln prove soak demo docs schema release release-check clean bench bench-compare interop

VERSION = $$(git describe --tags --always --dirty 2>/dev/null || echo devel)
# The race detector needs a C compiler; a machine without one still tests. It looks on where
# tests may run on more than one goroutine, which test/progress reads from the source.
RACE = $$(command -v "$${CC:-cc}" >/dev/null 2>&1 && echo -race)

# A program with the race detector waits a second before it ends, each time.
QUICK = GORACE=atexit_sleep_ms=0

# The packages that wait longest begin first, so that nothing waits for them alone.
SLOW = ./test/integration ./loader ./executor/process ./agentloop

# Tests are linked without the tables of a debugger, which takes a third less time.
TESTS = $(RACE) -first "$(SLOW)" -- -toolexec "env $(AHEAD)" -ldflags=-s -vet=off -p 4 -parallel 4 -timeout 12m

# hookd, and its messenger, which must lie in the same folder.
build:
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ ./cmd/hookd ./cmd/hookd-bridge

# hookd without the agent loop: a third of the size, and quicker to start, for
# agents that start it for every event.
lean:
	CGO_ENABLED=0 go build -tags lean -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/hookd-lean ./cmd/hookd

# What is checked is compiled as hookd itself is, so that the tests find it built. The
# programs that check are, too: each further way of compiling takes minutes where nothing is
# cached. Staticcheck has all tests compiled, so it has them compiled as they will run.
PLAIN = CGO_ENABLED=0 GOFLAGS=-trimpath $(AHEAD)

# Compilers and checkers end soon: they collect garbage less often, which takes a tenth of
# their time.
AHEAD = GOGC=400

# Tests mostly wait, so what only computes runs at the same time.
test: bin/progress
	@test -n "$(RACE)" || echo "make test: no C compiler, so without the race detector"
	@$(QUICK) bin/progress -also "$(MAKE) -s lint" $(TESTS)
	@echo "make test: vet, types on darwin and windows, staticcheck and all tests: ok"

bin/progress: test/progress/main.go test/progress/goroutines.go
	@$(PLAIN) go build -o $@ ./test/progress

vet:
	$(PLAIN) go vet ./...
	$(PLAIN) go vet -tags lean ./cmd/hookd
	$(PLAIN) go vet -tags interop ./test/interop ./agentloop/mcp
	$(PLAIN) go run ./test/systems darwin/arm64 windows/amd64

lint: vet
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "make lint: run gofmt -w on these files"; exit 1; }
	@$(PLAIN) go build -o bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	GOGC=200 GOFLAGS=$(RACE) bin/staticcheck ./...

race: bin/progress
	@test -n "$(RACE)" || echo "make race: no C compiler, so without the race detector"
	@$(QUICK) bin/progress $(TESTS)

# Each fuzz target for FUZZTIME; says at the end how many there were.
fuzz:
	@go run ./test/prove/fuzz

# All guarantees at full size, or some: make prove ONLY=G4,G10. Writes docs/internal/guarantees.md.
prove:
	ONLY="$(ONLY)" go run ./test/prove/run

# Known vulnerabilities in what is called, where the database can be reached.
vuln:
	@.ci/vuln

# Against real peers, which npm installs for the time of the test: MCP servers, the client
# libraries of model providers, and agents with hookd installed, which ask a mock model.
interop:
	go test -count=1 -timeout 30m -parallel 2 -tags interop ./test/interop -v
	go test -count=1 -tags interop -run "^TestVastResults$$" ./agentloop/mcp

# A million events through loop, hooks and records: no gaps, nothing grows.
soak:
	HOOKD_SOAK=$${EVENTS:-1000000} go test -count=1 -timeout 60m -run '^TestSoak$$' -v ./test/integration

# Everything against its target, in about fifteen minutes; BENCH=quick takes one and
# leaves docs/benchmarks.md as it is.
bench:
	@mkdir -p bin
	go run ./test/bench -pace $${BENCH:-full} -o bin/bench.txt $$(test "$${BENCH:-full}" = full && echo -doc docs/benchmarks.md)
	@test "$${BENCH:-full}" != full || go test ./test/integration -run TestGeneratedDocs -update # the figures in README.md

# Two result files side by side: make bench-compare OLD=before.txt NEW=bin/bench.txt
bench-compare:
	go tool benchstat $(OLD) $(NEW)

demo: build
	@sh examples/demo.sh bin/hookd

# Writes the generated parts of the documentation and the JSON Schemas.
docs:
	go generate ./...
	go test ./test/integration -run 'TestGeneratedDocs|TestThePicture' -update

# A release of the tag at HEAD in bin/release: docs/releases.md. SNAPSHOT=1 takes any tree.
release:
	go run ./test/release $${SNAPSHOT:+-snapshot}

# Builds one system twice, the second time from nothing, and compares all bytes. Minutes.
release-check:
	go run ./test/release -check

clean:
	rm -rf bin
