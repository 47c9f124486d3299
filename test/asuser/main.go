//go:build linux

// Command asuser runs the tests of some packages once more, as a user without
// rights. It must be started by root. It builds the tests as root, without the race
// detector, gives the user a copy of the tree and a home of its own in a temporary
// folder, and leaves neither file nor process. All packages run at the same time:
// most of their time they wait.
//
//	go run ./test/asuser [-user NAME] [PACKAGE…]
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// timed are the packages whose tests assert elapsed time, which other work would make
// longer. With -timed FILE the file is made when they are done.
var timed = []string{"./executor/process", "./executor", "./executor/exechook", "./executor/internal/worker"}

// packages are those that behave otherwise where root's rights and control groups
// are missing.
var packages = []string{"./executor/process", "./executor", "./executor/exechook", "./executor/internal/worker", "./loader", "./agentloop/tool", "./agentloop/tool/internal/projectfile"}

// stories are run with -all: they take as long as all the others.
const stories = "./test/integration"

// sameForAll are the tests that read the text of the repository, or run what no right and no
// control group changes. Root has run them.
const sameForAll = "^(TestHouse|TestImportArrows|TestProgramIsBuiltOnItsLibraries|TestNothingBuiltIsCommitted|TestGeneratedDocsAreCurrent|TestThePictureOnTheFirstPageIsCurrent|" +
	"TestLinksOfAllPagesLeadSomewhere|TestTheIndexNamesEveryPage|TestEverySettingHasAnExample|TestTheMessagesOfTroubleshootingExist|TestCommandsOfThePagesRun|" +
	"TestProgramsOfThePagesAreHooks|TestGoProgramsOfThePages|TestDemo|TestLean|TestHooksOfFourAgentsUnderFiveBridges|TestClientsRefuseGarbage|TestExampleGoHooks|" +
	"TestSoak|TestTinyTerminals|TestShownGuardsReadEverySpelling|TestExampleHooks|TestExampleHosts|TestSettingsOfThePagesAreRead|TestHooksOfKodelet|TestClientsReturnTheOutcome|" +
	"TestDaemonAnswersBigLinesAndKeepsStdoutClean|TestWarningsAreSeenOnce|TestServedModel|TestServedFeatures|TestFloodsDoNotGrowMemory|TestBridgeWithTooMuch|TestEachCallEndsOnce|" +
	"TestHigherLayersStand|TestSettingsOfAnUntrustedProjectHaveNoEffect|TestHooksToTake|TestGuardsToTakeFailClosed|TestHooksToTakeAtWork|TestBridgeAnswerIsNotTaken|TestBridgeIsLate)$"

// rights are what stories speak of whose outcome may depend on the user's rights or on control
// groups. Root has run the others.
var rights = regexp.MustCompile(`chmod|\[!?root\]|cgroup|uid|/proc|kill|setsid|sleep`)

// skipped is the pattern of what a user does not run again.
func skipped() (string, error) {
	stories, err := filepath.Glob("test/integration/testdata/*.txtar")
	if err != nil || len(stories) == 0 {
		return "", fmt.Errorf("no stories in test/integration/testdata: %v", err)
	}
	var same []string
	for _, story := range stories {
		text, err := os.ReadFile(story)
		if err != nil {
			return "", err
		}
		if !rights.Match(text) {
			same = append(same, regexp.QuoteMeta(strings.TrimSuffix(filepath.Base(story), ".txtar")))
		}
	}
	return sameForAll + "|^TestStories$/^(" + strings.Join(same, "|") + ")$", nil
}

func main() {
	name := flag.String("user", "nobody", "the user's name")
	timedDone := flag.String("timed", "", "make this `file` when the tests that assert elapsed time are done")
	all := flag.Bool("all", false, "run the stories, too")
	flag.Parse()
	if *all {
		packages = append(packages, stories)
	}
	if flag.NArg() > 0 {
		packages = flag.Args()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, *name, *timedDone)
	if *timedDone != "" { // also where they could not begin: somebody waits for it
		err = errors.Join(err, os.WriteFile(*timedDone, nil, 0o600))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "asuser:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name, timedDone string) (err error) {
	began := time.Now()
	u, err := newAccount(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.remove()) }()
	if err := u.prepare(ctx); err != nil {
		return err
	}
	skip, err := skipped()
	if err != nil {
		return err
	}
	u.orphans, err = adopt()
	if err != nil {
		return err
	}
	ready := time.Since(began).Round(time.Second)
	var all, first sync.WaitGroup
	failed := make([]error, len(packages))
	for i, p := range packages {
		if slices.Contains(timed, p) {
			first.Add(1)
		}
		all.Go(func() {
			failed[i] = u.test(ctx, p, skip)
			if slices.Contains(timed, p) {
				first.Done()
			}
		})
	}
	first.Wait()
	if timedDone != "" {
		err = os.WriteFile(timedDone, nil, 0o600)
	}
	all.Wait()
	fmt.Printf("as %s: %d packages, ready after %v, done after %v\n", name, len(packages), ready, time.Since(began).Round(time.Second))
	return errors.Join(append(failed, err)...)
}

// build builds the tests of a package, as root and with root's cache.
func (u *account) build(ctx context.Context, p string) error {
	c := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-ldflags=-s", "-o", u.program(p), p)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=400") // as hookd itself is compiled, which costs nothing then
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("building the tests of %s: %w\n%s", p, err, out)
	}
	return nil
}

// test runs the tests of a package as the user and prints what they print, if they
// failed, in one piece.
func (u *account) test(ctx context.Context, p, skip string) error {
	c := exec.CommandContext(ctx, u.program(p), "-test.timeout=8m", "-test.parallel=4", "-test.skip="+skip)
	c.Dir, c.Env = filepath.Join(u.tree(), p), u.environment()
	c.SysProcAttr = &syscall.SysProcAttr{Credential: u.credential, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	began := time.Now()
	err := u.orphans.start(c.Start, func() int { return c.Process.Pid })
	if err == nil {
		err = c.Wait()
	}
	took := time.Since(began).Round(100 * time.Millisecond)
	if err != nil {
		fmt.Printf("%sFAIL as %s\t%s\t%v\n", out.Bytes(), u.name, p, took)
		return fmt.Errorf("%s: %w", p, err)
	}
	fmt.Printf("ok   as %s\t%s\t%v\n", u.name, p, took)
	return nil
}

// program is where the tests of a package lie.
func (u *account) program(p string) string {
	return filepath.Join(u.box, "bin", strings.ReplaceAll(strings.TrimPrefix(p, "./"), "/", "-")+".test")
}
