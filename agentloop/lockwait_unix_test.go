//go:build unix

package agentloop_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"golang.org/x/sys/unix"
)

// TestAbortedWaitSaysForWhat asserts that a call which waits for a lock ends with its
// run, and that its end says what it waited for.
func TestAbortedWaitSaysForWhat(t *testing.T) {
	s, project := touching(t, "edit_file", `{"path":"free","oldText":"free","newText":"x"}`)
	folder, err := os.Open(project)
	if err == nil {
		err = unix.Flock(int(folder.Fd()), unix.LOCK_EX) // as another program may
	}
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	s.prompt(t, ctx, "go")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	ends := s.gate.of(protocol.ToolCallError, "")
	if len(ends) != 1 {
		t.Fatal(s.gate.names())
	}
	problem := dataOf[protocol.ToolCallErrorData](t, ends[0]).Error
	if problem.Kind != protocol.CallAborted || !strings.Contains(problem.Text, "has held the lock of the folder "+project) {
		t.Errorf("%+v", problem)
	}
}
