// Progress tests all packages with "go test -json", to which it gives its arguments, and
// says how far it is: a line for each package that took a second or more, what runs every
// half minute, each skipped test with its reason, and the whole output of what failed. With
// -race, the packages whose tests may run on more than one goroutine are tested with the
// race detector, and the others without it, which takes a tenth of the time and can find
// as much (goroutines.go). With -also it runs a second command at the same time and shows
// its output when it has ended. It exits with 1 if anything failed.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/executor/guest"
)

const pause = 30 * time.Second // between two lines about what runs

func main() {
	also := flag.String("also", "", "a `command` to run at the same time")
	module := flag.String("module", "github.com/hookd-dev/hookd/", "`prefix` of packages that is not shown")
	race := flag.Bool("race", false, "use the race detector where tests may run on more than one goroutine")
	first := flag.String("first", "", "`packages` that begin first")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &progress{out: os.Stdout, module: *module, began: time.Now(), running: map[string]*testPackage{}}
	if err := guest.NotBelowAgent(os.Environ()); err != nil {
		fmt.Printf("progress: %v. Nothing can be allowed below an agent, so tests of trust will fail: begin a shell without its mark (exec env -u NAME make test; the names are in executor/hookenv/agents.go)\n", err)
	}
	var other sync.WaitGroup
	if *also != "" {
		other.Go(func() { p.runAlso(ctx, *also) })
	}
	p.testAll(ctx, *race, strings.Fields(*first), flag.Args())
	other.Wait()
	for _, skip := range p.skips {
		p.say("skip  %s", skip)
	}
	p.say("%d packages, %d tests skipped, %s", p.done, len(p.skips), time.Since(p.began).Round(time.Second))
	if p.failed || ctx.Err() != nil {
		os.Exit(1)
	}
}

// testEvent is one line of go test -json.
type testEvent struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64 // seconds
	FailedBuild                               string
}

// testPackage is a package whose tests run.
type testPackage struct {
	output  bytes.Buffer             // of the package itself
	tests   map[string]*bytes.Buffer // output of tests that run
	failed  bytes.Buffer             // output of tests that failed
	skipped []string
}

// progress is what was seen so far.
type progress struct {
	mu      sync.Mutex
	out     io.Writer
	module  string
	began   time.Time
	running map[string]*testPackage
	builds  bytes.Buffer // output of compilers
	done    int
	skips   []string
	failed  bool
}

// testAll runs all tests; with the race detector in two commands at the same time.
func (p *progress) testAll(ctx context.Context, race bool, first, flags []string) {
	stopTelling := p.tellNowAndThen()
	defer stopTelling()
	if !race {
		p.runTests(ctx, "", nil, slices.Concat(flags, first, []string{"./..."}))
		return
	}
	found, err := split(".")
	if err != nil {
		p.fail("which tests run on one goroutine: %v", err)
		return
	}
	var others sync.WaitGroup
	others.Go(func() {
		p.runTests(ctx, "", plain, slices.Concat(flags, []string{"-p=2"}, found.one))
		if len(found.apart) > 0 {
			only := "-run=^(" + strings.Join(found.names, "|") + ")$"
			p.runTests(ctx, " apart", plain, slices.Concat(flags, []string{"-p=2", only}, found.apart))
		}
	})
	p.runTests(ctx, "", nil, slices.Concat([]string{"-race", "-tags=" + tag}, flags, first, found.many))
	others.Wait()
}

// plain is the environment of tests without the race detector: they are compiled as hookd
// itself is, as vet and staticcheck have done.
var plain = []string{"CGO_ENABLED=0", "GOFLAGS=-trimpath"}

// runTests runs go test with arguments. The mark tells packages from those of other commands.
func (p *progress) runTests(ctx context.Context, mark string, env, args []string) {
	command := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	command.Env = append(os.Environ(), env...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		p.fail("go test: %v", err)
		return
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var event testEvent
		if json.Unmarshal(lines.Bytes(), &event) != nil {
			p.say("%s", lines.Text())
			continue
		}
		if event.Package != "" {
			event.Package += mark
		}
		p.note(&event)
	}
	if err := command.Wait(); err != nil && !p.failing() {
		p.fail("go test: %v\n%s", err, p.builds.String())
	}
}

func (p *progress) failing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *progress) note(e *testEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Package == "" {
		p.builds.WriteString(e.Output)
		return
	}
	pkg := p.running[e.Package]
	if pkg == nil {
		pkg = &testPackage{tests: map[string]*bytes.Buffer{}}
		p.running[e.Package] = pkg
	}
	if e.Test != "" {
		pkg.note(e)
		return
	}
	switch e.Action {
	case "output":
		pkg.output.WriteString(e.Output)
	case "pass", "skip", "fail":
		p.finish(e, pkg)
	}
}

// note takes in what a test of the package does.
func (t *testPackage) note(e *testEvent) {
	switch e.Action {
	case "run":
		t.tests[e.Test] = new(bytes.Buffer)
	case "output":
		if text := t.tests[e.Test]; text != nil {
			text.WriteString(e.Output)
		}
	case "skip":
		t.skipped = append(t.skipped, e.Test+": "+reason(t.tests[e.Test]))
		delete(t.tests, e.Test)
	case "pass":
		delete(t.tests, e.Test)
	case "fail":
		t.failed.Write(t.tests[e.Test].Bytes())
		delete(t.tests, e.Test)
	}
}

// reason returns why a test was skipped: its last line that is no report of go test.
func reason(output *bytes.Buffer) (last string) {
	if output == nil {
		return ""
	}
	for line := range strings.Lines(output.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			_, last, _ = strings.Cut(line, ": ") // after file and line
		}
	}
	return last
}

// finish says how a package ended. p.mu is held.
func (p *progress) finish(e *testEvent, pkg *testPackage) {
	delete(p.running, e.Package)
	p.done++
	name := strings.TrimPrefix(e.Package, p.module)
	for _, test := range pkg.skipped {
		p.skips = append(p.skips, name+" "+test)
	}
	if e.Action != "fail" {
		if e.Elapsed >= 1 {
			p.line("ok    %-32s %5.1fs", name, e.Elapsed)
		}
		return
	}
	p.failed = true
	p.line("FAIL  %-32s %5.1fs", name, e.Elapsed)
	if e.FailedBuild != "" {
		fmt.Fprint(p.out, p.builds.String())
	}
	fmt.Fprint(p.out, pkg.failed.String())
	for _, test := range slices.Sorted(maps.Keys(pkg.tests)) { // that ran when the package ended
		fmt.Fprintf(p.out, "did not end: %s\n%s", test, pkg.tests[test].String())
	}
	fmt.Fprint(p.out, pkg.output.String())
}

// tellNowAndThen says what runs, until the function that it returns is called.
func (p *progress) tellNowAndThen() (stop func()) {
	ticker, quit := time.NewTicker(pause), make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		for {
			select {
			case <-ticker.C:
				p.tell()
			case <-quit:
				return
			}
		}
	})
	return func() {
		ticker.Stop()
		close(quit)
		telling.Wait()
	}
}

func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for name, pkg := range p.running {
		if len(pkg.tests) > 0 {
			names = append(names, strings.TrimPrefix(name, p.module))
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		names = []string{"compilers"}
	}
	p.line("…     %s: %d packages done, at work: %s", time.Since(p.began).Round(time.Second), p.done, strings.Join(names, ", "))
}

// runAlso runs a command and shows its output when it has ended.
func (p *progress) runAlso(ctx context.Context, line string) {
	began := time.Now()
	command := exec.CommandContext(ctx, "sh", "-c", line)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	text, err := command.CombinedOutput()
	if err != nil {
		p.fail("%s: %v\n%s", line, err, text)
		return
	}
	p.say("ok    %-32s %5.1fs\n%s", line, time.Since(began).Seconds(), text)
}

func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(format, args...)
}

func (p *progress) fail(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
	p.line("FAIL  "+format, args...)
}

// line writes one line. p.mu is held.
func (p *progress) line(format string, args ...any) {
	fmt.Fprintln(p.out, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}
