package engine

import (
	"context"
	"path/filepath"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/signals"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema"
)

// Opener opens the hooks of the project that a command runs in.
type Opener struct {
	Console   *cli.Console
	Project   *places.Project
	Processes *Processes
	Signals   *signals.Handler
	Closers   *cli.Closers

	// Judge finds what is wrong with skills and recipes, nil for none: only the agent loop
	// can read them.
	Judge func(*loader.Snapshot)
}

// Options say what a command needs of an engine.
type Options struct {
	LongLived bool // a guardian ends the hooks if hookd is killed; changes of files are followed
	Explain   bool // hooks that do not match are part of the outcome, too
	Asked     bool // the person was asked about what of the project waits
	HooksOnly bool // nothing of the project but hooks is used: no instructions, skills, recipes, servers
	// Folders are where the projects are, the first counts most; none: the working directory.
	Folders []string
	Late    Late // gets what hooks do and say when nobody waits for them
}

// Open loads the hooks and makes them ready for events.
func (o *Opener) Open(ctx context.Context, options Options) (*Engine, error) {
	rt, err := o.Processes.Start(options.LongLived)
	if err != nil {
		return nil, err
	}
	e := &Engine{StateDir: o.StateDirOrNote(), opener: o}
	if options.LongLived && options.HooksOnly { // a proxy; the agent loop may hold much
		CollectLess()
	}
	notes := startNotes{console: o.Console, loop: options.LongLived && !options.HooksOnly, reviewed: options.Asked}
	if options.LongLived {
		loading := o.loaderOptions(rt, options.Folders)
		loading.Instructions = !options.HooksOnly
		watcher, err := loader.Watch(ctx, loading)
		if err != nil {
			return nil, places.NoProject(err)
		}
		o.Closers.Add(func() error { watcher.Close(); return nil })
		notes.print(watcher.Snapshot())
		e.source, e.watcher = watcher, watcher
	} else {
		snapshot, err := loader.Load(ctx, o.loaderOptions(rt, options.Folders))
		if err != nil {
			return nil, places.NoProject(err)
		}
		notes.print(snapshot)
		e.source = snapshot.Set
	}
	e.Root = e.Project()
	if e.Root == "" {
		if e.Root, err = o.Project.WorkingDir(); err != nil {
			return nil, err
		}
	}
	e.observer = Observe(o.Console, options.Late)
	e.executor = executor.New(e.source, executor.Options{
		StateDir: e.StateDir, Depth: hookenv.ProcessDepth(), Explain: options.Explain, Progress: e.observer.Hooks(),
	})
	e.guest = guest.New(e.source, GuestOptions(e.StateDir))
	o.Signals.OnForceQuit(nil)
	o.Closers.Add(func() error {
		if err := e.Close(ctx); err != nil {
			return cli.DataLossError{Err: err}
		}
		return nil
	})
	return e, nil
}

// EndBy has what was opened end without waiting for observers from a time on, and kills what
// is not gone then. It is for a process that somebody else ends a little later.
func (o *Opener) EndBy(until time.Time) {
	time.AfterFunc(time.Until(until), func() {
		o.Signals.Force()
		if rt := o.Processes.Runtime(); rt != nil {
			rt.Hurry()
		}
	})
}

// Look loads the hooks, to show them.
func (o *Opener) Look(ctx context.Context) (*loader.Snapshot, error) {
	rt, err := o.Processes.Start(false)
	if err != nil {
		return nil, err
	}
	options := o.loaderOptions(rt, nil)
	options.Instructions = o.Judge != nil
	snapshot, err := loader.Load(ctx, options)
	if err != nil {
		return nil, places.NoProject(err)
	}
	if o.Judge != nil {
		o.Judge(snapshot)
	}
	return snapshot, nil
}

// NoteNoProject tells a person that no project is here, where that is so: else they look for
// hooks in a folder that hookd did not look into.
func (o *Opener) NoteNoProject(project string) {
	if project == "" && !o.Console.JSON {
		o.Console.Note("no project is here: only your own hooks and those of this machine count (hookd init makes a project)", "")
	}
}

// OtherHome says, "" if it is not so, that HOME hides the user's own hooks. Whoever starts a command
// says what HOME is: the settings of an editor may be those of a project.
func OtherHome() (note, remedy string) {
	counts, account := loader.OtherHome()
	if account == "" {
		return "", ""
	}
	return "HOME is " + counts + ", so the hooks and settings in " + filepath.Join(account, ".acai") + " do not count",
		"leave HOME out of what starts hookd, if you do not mean that"
}

// Listing describes the hooks as they stand.
func (o *Opener) Listing(ctx context.Context) (daemon.Listing, error) {
	snapshot, err := o.Look(ctx)
	if err != nil {
		return daemon.Listing{}, err
	}
	return Describe(snapshot), nil
}

// Describe lists the hooks and the settings of a snapshot.
func Describe(s *loader.Snapshot) daemon.Listing {
	listing := daemon.Describe(s.Set, s.Findings)
	for _, info := range s.Settings {
		listing.Settings = append(listing.Settings, daemon.ListedSettings{Source: info.Layer, File: info.File, State: string(info.State)})
	}
	for i := range listing.Hooks {
		listing.Hooks[i].DescribedBy = string(s.Hooks[i].DescribedBy)
	}
	return listing
}

// StateDirOrNote returns the folder of records and sessions. Without one it prints a note
// and returns "": hooks still decide, only nothing is kept.
func (o *Opener) StateDirOrNote() string {
	dir, err := executor.StateDir()
	if err != nil {
		o.Console.Note("nothing is recorded: "+err.Error(), "make $XDG_STATE_HOME (or ~/.local/state) a folder that you can write to")
		return ""
	}
	return dir
}

func (o *Opener) loaderOptions(rt *process.Runtime, folders []string) loader.Options {
	cwd, also := o.Project.Cwd, []string(nil)
	if len(folders) > 0 {
		cwd, also = folders[0], folders[1:]
	}
	return loader.Options{
		Cwd: cwd, Also: also, Project: o.Project.Folder, Runtime: rt, Program: places.Program(), Pool: o.Processes.Pool(),
		OnNotice: func(f schema.Finding) { o.Console.Note(f.Message, f.Remedy) },
	}
}
