//go:build unix

package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/test/prove"
)

// TestMain lets the tests start this binary as a process that writes records.
func TestMain(m *testing.M) {
	switch dir := os.Getenv("RECORD_TEST_DIR"); os.Getenv("RECORD_TEST_ROLE") {
	case "":
		os.Exit(m.Run())
	case "writer":
		writeRecords(dir, os.Getenv("RECORD_TEST_NAME"))
	case "full-disk":
		fillDisk(dir)
	}
}

func helper(t *testing.T, role, dir, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RECORD_TEST_ROLE="+role, "RECORD_TEST_DIR="+dir, "RECORD_TEST_NAME="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// writeRecords decides events without end, or 200 of them for a name, and tells
// each on stdout after it is recorded.
func writeRecords(dir, name string) {
	log := Open(dir, 0, 0)
	for i := 0; name == "" || i < 200; i++ {
		id := fmt.Sprint(name, i)
		e := event(id)
		e.Reason = strings.Repeat("x", i%5000)
		// On a busy machine the lock may be taken for longer than anyone waits; the
		// line then comes with the next one, and is not told as recorded.
		if err := log.Append("s", at, e); err == nil {
			fmt.Println(id)
		} else if !errors.Is(err, state.ErrLocked) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	for range 100 {
		if log.Close() == nil {
			return
		}
	}
	fmt.Fprintln(os.Stderr, "the lock never came free")
	os.Exit(1)
}

// G16: no event that was decided is without a record after kill -9, and the
// chain goes on after it.
func TestKilledWriter(t *testing.T) {
	rounds, told := prove.Size(30, 300), 0
	for range rounds {
		dir := t.TempDir()
		cmd := helper(t, "writer", dir, "")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		decided := readLines(out, 1+rand.IntN(300), func() { cmd.Process.Kill() })
		cmd.Wait()
		appendEvents(t, Open(dir, 0, 0), "s", "next")
		got, _ := ids(dir, "s")
		told += len(decided)
		for _, id := range decided {
			if !slices.Contains(got, id) {
				t.Fatalf("%s was decided and is not recorded", id)
			}
		}
		for _, p := range Verify(dir, "s") {
			if !p.Crash {
				t.Error(p)
			}
		}
		if got[len(got)-1] != "next" {
			t.Error("the chain does not go on")
		}
	}
	prove.Figure(t, "G16", "%d × kill -9 of a writer: %d events told as recorded, 0 without a record", rounds, told)
}

// readLines calls kill after n lines and reads what comes all the same.
func readLines(r io.Reader, n int, kill func()) (lines []string) {
	for scan := bufio.NewScanner(r); scan.Scan(); {
		lines = append(lines, scan.Text())
		if len(lines) == n {
			kill()
		}
	}
	return lines
}

// Three processes that write one record keep one chain.
func TestSeveralWriters(t *testing.T) {
	dir := t.TempDir()
	var writers []*exec.Cmd
	for _, name := range []string{"a", "b", "c"} {
		cmd := helper(t, "writer", dir, name)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, cmd)
	}
	for _, cmd := range writers {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	got, problems := ids(dir, "s")
	if len(got) != 600 || problems != nil {
		t.Errorf("%d events, %v", len(got), problems)
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != 600 {
		t.Error("an event is recorded twice")
	}
}

// A disk that takes half a line takes none: the chain stays whole, and what
// waited comes when there is room again.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	cmd := helper(t, "full-disk", dir, "")
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	got, problems := ids(dir, "s")
	if want := []string{"small", "large", "small again"}; !slices.Equal(got, want) || problems != nil {
		t.Error(got, problems)
	}
}

func fillDisk(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	fail := func(what string, err error) {
		fmt.Fprintln(os.Stderr, what, err)
		os.Exit(1)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		fail("getrlimit", err)
	}
	log := Open(dir, 0, 0)
	if err := log.Append("s", at, event("small")); err != nil {
		fail("small", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: before.Max}); err != nil {
		fail("setrlimit", err)
	}
	large := event("large")
	large.Reason = strings.Repeat("x", 8192)
	if err := log.Append("s", at, large); err == nil {
		fail("large", fmt.Errorf("no error"))
	}
	raw, err := os.ReadFile(filepath.Join(dir, "s.jsonl"))
	if err != nil || raw[len(raw)-1] != '\n' {
		fail("half a line stays", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		fail("setrlimit", err)
	}
	if err := log.Append("s", at, event("small again")); err != nil {
		fail("small again", err)
	}
}
