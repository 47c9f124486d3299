package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/loader/install/verify"
)

// GuestOptions are what the guest role needs to know of this machine: where the state is,
// and which files are hookd's own.
func GuestOptions(stateDir string) guest.Options {
	o := guest.Options{StateDir: stateDir, Broken: func(_ context.Context, agent, project string) string {
		return brokenInstall(stateDir, agent, project)
	}}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		o.Home = home
	}
	if account, err := hookenv.Account(); o.Home == "" && err == nil && filepath.IsAbs(account.HomeDir) {
		o.Home = account.HomeDir
	}
	if stateDir != "" {
		o.Own = append(o.Own, stateDir)
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		o.Own = append(o.Own, filepath.Join(dir, "hookd"))
	}
	o.Own = append(o.Own, programs()...)
	return o
}

// programs are this program and the messenger next to it, as they were started and with
// links followed.
func programs() (paths []string) {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	dirs := []string{filepath.Dir(self)}
	if real, err := filepath.EvalSymlinks(self); err == nil && real != self {
		paths = append(paths, real)
		dirs = append(dirs, filepath.Dir(real))
	}
	paths = append(paths, self)
	suffix := filepath.Ext(self)
	if !strings.EqualFold(suffix, ".exe") {
		suffix = ""
	}
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, "hookd-bridge"+suffix))
	}
	return paths
}

// brokenInstall says in one line what keeps hookd from working in an agent that has just
// called it, "" if nothing is known to. It starts nothing. What the agent trusts is not
// looked at: it has called.
func brokenInstall(stateDir, agent, project string) string {
	a := install.Find(agent)
	in, err := install.Here(stateDir, project)
	if a == nil || err != nil {
		return ""
	}
	v := verify.Verifier{Installer: in, State: stateDir}
	for _, r := range v.Verify(context.Background(), []*install.Agent{a}) {
		for _, p := range r.Problems {
			if p.Check != "folder-trust" && p.Check != "hook-trust" {
				return fmt.Sprintf("hookd is not installed in %s as it should be: %s (hookd verify %s says what to do)", r.Title, p.Text, agent)
			}
		}
	}
	return ""
}
