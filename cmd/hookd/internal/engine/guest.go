package engine

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/executor/hookenv"
)

// GuestOptions are what the guest role needs to know of this machine: where the state is,
// and which files are hookd's own.
func GuestOptions(stateDir string) guest.Options {
	o := guest.Options{StateDir: stateDir}
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
