package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// The test binary is also the servers that tests talk with: the variable names
// which.
func TestMain(m *testing.M) {
	if kind := os.Getenv("MCP_TEST_SERVER"); kind != "" {
		if how, is := strings.CutPrefix(kind, "odd:"); is {
			answer(odd(how))
			return
		}
		if tool, is := strings.CutPrefix(kind, "listing:"); is {
			answer(listing(tool))
			return
		}
		serverKinds[kind]()
		return
	}
	goleak.VerifyTestMain(m)
}

// itself is the server of the kind.
func itself(t testing.TB, kind string) Server {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: "t", Command: path, Env: map[string]string{"MCP_TEST_SERVER": kind}}
}

// notices are what a person was told.
type notices struct {
	mu   sync.Mutex
	list []string
}

func (n *notices) add(notice Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, notice.Server+" "+notice.Text)
}

func (n *notices) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// await waits for a notice that holds the text.
func (n *notices) await(t *testing.T, text string) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("told: %q", n.all())
		}
	}()
	eventually(t, fmt.Sprintf("the notice %q", text), func() bool {
		return slices.ContainsFunc(n.all(), func(s string) bool { return strings.Contains(s, text) })
	})
}

// eventually waits for what no promise bounds, on a machine that may be slow.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	hooktest.Eventually(t, 30*time.Second, what, holds)
}

// setUp is a place where servers run, contained as hookd contains them.
type setUp struct {
	Options
	told *notices
	dir  string
	mark string
}

func newSetUp(t *testing.T) *setUp {
	t.Helper()
	runtime, err := process.New(process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runtime.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &setUp{told: &notices{}, dir: t.TempDir()}
	s.mark = "MCP_TEST_MARK=" + s.dir
	s.Options = Options{Project: s.dir, Notify: s.told.add, Pause: 50 * time.Millisecond, Start: func(ctx context.Context, p Program) (*Process, error) {
		env := []string{"PATH=" + os.Getenv("PATH"), s.mark}
		env = append(env, p.Env...)
		child, err := runtime.Start(ctx, &process.Command{Path: p.Argv[0], Argv: p.Argv, Dir: s.dir, Env: env, EnvTag: s.mark, Grace: 100 * time.Millisecond})
		if err != nil {
			return nil, err
		}
		return &Process{In: child.Stdin, Out: child.Stdout, Done: child.Done(), End: func(patience time.Duration) Ending {
			r := child.End(patience)
			text := fmt.Sprintf("exit code %d", r.ExitCode)
			if r.Err != nil {
				text = r.Err.Error()
			}
			return Ending{Text: text, Stderr: string(r.Stderr)}
		}}, nil
	}}
	return s
}

// connect starts servers that are closed, without survivors, at the test's end.
func (s *setUp) connect(t *testing.T, servers ...Server) *Servers {
	t.Helper()
	all := Connect(t.Context(), servers, s.Options)
	t.Cleanup(func() {
		began := time.Now()
		all.Close()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("closing took %s", took)
		}
		if left := s.survivors(); len(left) > 0 {
			t.Errorf("survivors: %v", left)
		}
	})
	return all
}

// survivors lists the processes alive that bear the mark of the set-up.
func (s *setUp) survivors() []string {
	return hooktest.Survivors(s.mark)
}

// find returns a tool by name once it is there.
func find(t *testing.T, s *Servers, name string) tool.Tool {
	t.Helper()
	var found tool.Tool
	eventually(t, "tool "+name, func() bool {
		for _, candidate := range s.Tools() {
			if candidate.Describe().Name == name {
				found = candidate
				return true
			}
		}
		return false
	})
	return found
}

// text is all text of a call's outcome, errors included.
func text(t *testing.T, of tool.Tool, ctx context.Context, args string) string {
	t.Helper()
	result, err := of.Run(ctx, []byte(args))
	var known *tool.Error
	switch {
	case errors.As(err, &known):
		return string(known.Kind) + ": " + known.Text
	case err != nil:
		return "ended: " + err.Error()
	}
	var parts []string
	for _, p := range result.Content {
		parts = append(parts, p.Text)
	}
	text := strings.Join(parts, "|")
	if result.IsError {
		text = "error: " + text
	}
	return text
}

// A server is told of all folders of a session, the project first.
func TestRoots(t *testing.T) {
	for want, o := range map[string]Options{
		"":                               {},
		"file:///p":                      {Project: "/p"},
		"file:///p file:///with%20blank": {Project: "/p", Also: []string{"/with blank"}},
		"file:///b":                      {Also: []string{"/b"}},
	} {
		var got []string
		for _, root := range o.roots() {
			got = append(got, root.URI)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
