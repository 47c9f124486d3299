package executor

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// TestPunctual: a program is asked where its event is decided as soon as it is
// known that nothing of its start waits for another machine. What is not known
// keeps the guard, and so does a Go hook.
func TestPunctual(t *testing.T) {
	s := newScripts(t)
	near := s.hook("near.sh", protocol.CanBlock, 5*time.Second, ":")
	gone := s.hook("gone.sh", protocol.CanBlock, 5*time.Second, ":")
	if err := os.WriteFile(gone.Path, []byte("#! "+s.dir+"/none -x\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	gone.OnFailure = protocol.RuleContinue
	goes := HookOf(goHook("go", protocol.CanObserve, nil))
	e := s.executor(schema.HookSettings{}, near, gone, goes)
	isNear := onThisMachine(s.dir) && onThisMachine("/bin/sh") // temporary files may lie on a server
	for i, want := range []bool{false, isNear} {
		if got := near.Asker.(*Process).punctual(); got != want {
			t.Errorf("punctual after %d events: %v", i, got)
		}
		fire(t, e, toolCall("s", ""))
	}
	if gone.Asker.(*Process).punctual() {
		t.Error("an interpreter that is not there counts as near")
	}
	if _, keeps := goes.Asker.(punctual); keeps {
		t.Error("a Go hook is asked without the guard")
	}
	for _, server := range []uint32{unix.NFS_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.V9FS_MAGIC} {
		if !elsewhere[server] {
			t.Errorf("file system %#x counts as near", server)
		}
	}
}

// stuck is an asker whose start waits for ever, as for a file of a server that is
// gone. It would be asked without the guard if its files were near.
type stuck struct{ free chan struct{} }

func (stuck) punctual() bool { return false }
func (s stuck) Ask(context.Context, *Question) protocol.Answer {
	<-s.free
	return failed(&protocol.Failure{Kind: protocol.FailLost})
}

// TestStuckStart: a start that waits for another machine holds up its event for the
// limit and no longer.
func TestStuckStart(t *testing.T) {
	s := newScripts(t)
	h := s.hook("far.sh", protocol.CanBlock, 100*time.Millisecond, ":")
	h.OnFailure = protocol.RuleBlock
	free := make(chan struct{})
	h.Asker = stuck{free}
	e := s.executor(schema.HookSettings{}, h)
	defer close(free)
	began := time.Now()
	o, err := e.Fire(context.Background(), toolCall("s", ""))
	if err != nil || o.Action != protocol.Block || len(o.Runs) != 1 || o.Runs[0].Failure != protocol.FailTimeout {
		t.Errorf("%v, %+v", err, o)
	}
	if took := time.Since(began); took > 350*time.Millisecond {
		t.Errorf("the event took %s", took)
	}
}
