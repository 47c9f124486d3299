package bridgecmd

import (
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/internal/program"
	"github.com/hookd-dev/hookd/internal/program/hashed"
)

// idle is how long a daemon that was started for a bridge stays without work.
const idle = 10 * time.Minute

// startDaemonAtEnd has a daemon started when this process ends: what this process
// itself has started is ended by then, and the daemon is not taken for a part of it. An
// agent that has ended this process waits for nothing more.
func (cmd *Commands) startDaemonAtEnd(ctx context.Context, path string) {
	cmd.Closers.Add(func() error {
		if ctx.Err() == nil {
			startDaemon(path)
		}
		return nil
	})
}

// startDaemon starts a daemon that outlives this process and its agent: in a session of its
// own, with nothing of ours open. A second one on the same socket ends at once. Whatever
// goes wrong costs the next event some time and is not worth a word to the agent.
func startDaemon(path string) {
	self := places.Program()
	if self == "" || hookenv.ProcessDepth() > 0 { // a hook's own agent: it ends with the hook
		return
	}
	state, err := places.StateDir()
	if err != nil {
		return
	}
	_, _ = hashed.Renew(state, self) // the person has replaced hookd
	if installed, err := program.Read(state); err != nil || installed.Path != self {
		return // the messenger would not believe this daemon
	}
	c := exec.Command(self, "serve", "--socket="+path, "--idle", idle.String()) // stdin, stdout and stderr are the null device
	c.Dir, c.Env, c.SysProcAttr = "/", os.Environ(), apart()
	if c.Start() == nil {
		_ = c.Process.Release()
	}
}
