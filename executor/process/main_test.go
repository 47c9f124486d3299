package process

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/test/prove"
)

// The test binary is also the helper processes of a Runtime, by importing this
// package and nothing else, and the programs that tests run: the first argument
// "program" is followed by one's name.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "program" {
		programs[os.Args[2]](os.Args[3:])
		return
	}
	goleak.VerifyTestMain(m)
}

// programs are run by tests, each in a process of its own.
var programs = map[string]func(args []string){}

// self returns the command line that runs one of programs.
func self(t testing.TB, name string, args ...string) *Command {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Command{Path: path, Argv: append([]string{path, "program", name}, args...), Env: os.Environ()}
}

// late is how late a result may be (G1). On a machine that has more to do than it
// has processors, nobody can be on time, and the figure grows with the load,
// also with what a proof itself starts.
func late() time.Duration {
	const promised = 250 * time.Millisecond
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return promised
	}
	load, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	if err != nil {
		return promised
	}
	return time.Duration(float64(promised) * max(1, load/float64(runtime.NumCPU())))
}

// count is few, or n if the long proof was asked for.
func count(few, n int) int {
	return prove.Size(few, n)
}

// tally is what the rounds of a proof come to.
type tally struct {
	mu                sync.Mutex
	rounds, survivors int
	latest            time.Duration
}

func (m *tally) add(late time.Duration, survivors []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rounds++
	m.latest, m.survivors = max(m.latest, late), m.survivors+len(survivors)
}

func (m *tally) String() string {
	return fmt.Sprintf("%d survivors, at most %s late", m.survivors, m.latest.Round(time.Millisecond))
}

// newRuntime makes a Runtime that is closed, without error, at the test's end.
func newRuntime(t testing.TB, options Options) *Runtime {
	t.Helper()
	rt, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// shell returns a command that runs a script with /bin/sh.
func shell(script string) *Command {
	return &Command{Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// marked gives the command a mark of its own and returns it.
func marked(c *Command) string {
	c.EnvTag = "PROCESS_TEST=" + rand.Text()
	c.Env = append(c.Env, c.EnvTag)
	return c.EnvTag
}

// within returns a context that ends with errLimit.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), d, errLimit)
	t.Cleanup(cancel)
	return ctx
}

var errLimit = fmt.Errorf("the test's limit")

// mustEnd waits for the tree's end.
func mustEnd(t testing.TB, r Result, patience time.Duration) {
	t.Helper()
	select {
	case <-r.Gone:
	case <-time.After(patience):
		t.Fatalf("tree of process %d is still there after %s", r.Pid, patience)
	}
}

func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the script of this test calls %s, which is not on this machine", program)
		}
	}
}

func lines(text []byte) []string { return strings.Fields(string(text)) }
