package exechook

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// TestPrompt: a program is asked on its event's own goroutine as soon as it is
// known that nothing of its start waits for another machine. What is not known
// keeps the guard, and so does a Go hook.
func TestPrompt(t *testing.T) {
	s := newScripts(t)
	near := s.hook("near.sh", protocol.CanBlock, 5*time.Second, ":")
	gone := s.hook("gone.sh", protocol.CanBlock, 5*time.Second, ":")
	if err := os.WriteFile(gone.Path, []byte("#! "+s.dir+"/none -x\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	gone.OnFailure = protocol.RuleContinue
	goes := executor.HookOf(goHook("go", protocol.CanObserve))
	e := s.executor(schema.HookSettings{}, near, gone, goes)
	isNear := onThisMachine(s.dir) && onThisMachine("/bin/sh") // temporary files may lie on a server
	for i, want := range []bool{false, isNear} {
		if got := near.Info().Prompt; got != want {
			t.Errorf("prompt after %d events: %v", i, got)
		}
		hooktest.Fire(t, e, toolCall("s", ""))
	}
	if gone.Info().Prompt {
		t.Error("an interpreter that is not there counts as near")
	}
	if goes.Info().Prompt {
		t.Error("a Go hook is asked without the guard")
	}
	for _, server := range []uint32{unix.NFS_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.V9FS_MAGIC} {
		if !remote[server] {
			t.Errorf("file system %#x counts as near", server)
		}
	}
}
