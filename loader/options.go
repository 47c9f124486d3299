package loader

import (
	"runtime"
	"time"

	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader/internal/notify"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/schema"
)

// Options say where to look. The zero value looks where hookd is run.
type Options struct {
	Project string // the project, given by name; "" searches upwards from Cwd
	Cwd     string // "" = the working directory

	// Also are further folders whose projects rule, as far as a person allowed something of
	// them: their hooks hold as those of a project further up do. The first one that lies in
	// a project counts as the working directory where that lies in none.
	Also []string

	Home     string // "" = the user's home
	StateDir string // "" = $XDG_STATE_HOME/hookd

	// Runtime runs the programs: hooks, and those that are asked what they are
	// for. Without one no hook is run and none is asked; the rest is the same.
	Runtime *process.Runtime

	// Program is the absolute path of hookd, which hooks get as HOOKD for its commands
	// get and reply. Without one they get the hookd on their own PATH, if there is one.
	Program string

	// Environ is the environment that the hooks' own is made from, as os.Environ returns
	// it: that of a process for which this one speaks. nil is that of this process. It moves
	// neither Home nor StateDir.
	Environ []string

	// Pool keeps the processes of standby and resident hooks, while a [Watcher]'s
	// snapshots rule. Without one, or without a Watcher, such hooks run once per
	// event.
	Pool *exechook.Pool

	// Instructions has AGENTS.md and its like be among the resources: the agent loop reads
	// them. Other agents have ways of their own to read theirs.
	Instructions bool

	// Without names hooks to leave out in this process. It reaches neither
	// required hooks nor those of the managed layer.
	Without []string

	// Managed moves the managed layer. It is for tests: the program is built
	// with [ManagedDir] and nothing else moves it.
	Managed *ManagedLayer

	// OnChange is called with every new snapshot of a [Watcher], the first one
	// included, by the watcher's goroutine. It must not block.
	OnChange func(*Snapshot)

	// OnNotice is called with what a person should know, once each.
	OnNotice func(schema.Finding)

	notifier func() (notify.Notifier, error) // tests: in place of the system's watches
	poll     time.Duration                   // tests: in place of pollInterval
}

// OtherHome returns the home whose .acai is the user's, and that of the account, where HOME names
// another home than the account's and the account's has an .acai, which does not count then.
func OtherHome() (counts, account string) { return workspace.OtherHome() }

// ManagedDir is the managed layer's folder. It is fixed at build; no flag,
// variable or link moves it.
const ManagedDir = "/etc/acai"

func (o *Options) managedDir() string {
	switch {
	case o.Managed != nil:
		return o.Managed.Dir
	case runtime.GOOS == "windows":
		return "" // access lists say who may write there, and hookd does not read them yet
	}
	return ManagedDir
}

// ManagedLayer is a managed layer for tests.
type ManagedLayer = ownership.ManagedLayer
