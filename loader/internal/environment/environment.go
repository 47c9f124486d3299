package environment

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
)

// An Environment is what the programs of one load start with: variables, search
// path, working directory, and who vouches for what they are made of.
type Environment struct {
	*report.Report
	Workspace    workspace.Workspace
	Inner        *candidate.Scope // the innermost project, nil without one
	Home, State  string
	Starter      Starter
	ManagedLayer *ownership.ManagedLayer
	Exempt       []ownership.Exemption
	Hashes       *files.HashCache
	HooksFolder  string // in place of each scope's own, "" for that
	checkouts    checkouts
	memo         environmentMemo
}

// Starter is who starts the programs of a load.
type Starter struct {
	Hookd   string   // the running hookd, "" if it is part of another program
	Environ []string // as os.Environ returns it: of this process, or of one for which it speaks
}

// New returns an environment with the fields given, for one load.
func New(e Environment) *Environment {
	e.checkouts = checkouts{e.Home, map[string]bool{}}
	e.memo = environmentMemo{
		paths: map[*candidate.Scope]string{}, envs: map[envKey][]string{}, builders: map[builderKey]*bundle.Builder{},
		starters: map[interpreter.StarterKey]interpreter.Starter{},
	}
	return &e
}

// environmentMemo is what many hooks share, made once in a load.
type environmentMemo struct {
	paths    map[*candidate.Scope]string
	envs     map[envKey][]string
	builders map[builderKey]*bundle.Builder
	starters map[interpreter.StarterKey]interpreter.Starter // by the line that names them
	startsIn string                                         // where the user's programs start, "" before it is wanted
}

// builderKey tells the builders of one load apart.
type builderKey struct {
	scope       *candidate.Scope
	runsInPlace bool
}

// EnvConfig is what the environment of a scope's hooks is made from.
func (e *Environment) EnvConfig(s *candidate.Scope, named []string) hookenv.Config {
	c := hookenv.Config{
		Environ: e.Starter.Environ, Project: e.projectDir(s), Machine: s.Layer == protocol.Managed,
		Names:  e.WithoutCode(s.Layer, slices.Concat(s.Own.Hooks.Env[s.Layer], named)),
		Usable: e.checkouts.outside,
	}
	if s.Layer == protocol.Managed {
		// A program of a folder that somebody else may write would answer in place
		// of the one that the machine's hook means.
		checks := e.ChecksFor(s.Layer)
		c.Usable = func(folder string) bool {
			_, unsafe, err := checks.Follow(folder)
			return err == nil && unsafe == ""
		}
	}
	for _, dir := range s.Own.Hooks.Path[s.Layer] {
		dir = e.expand(dir, s)
		// What a project brings along is run from private copies only, so it
		// cannot put its own folders before everybody else's programs.
		if s.NeedsTrust() && inFolder(s.Project, dir) {
			continue
		}
		c.Path = append(c.Path, dir)
	}
	return c
}

// projectDir returns the folder that the hooks of a scope get as their project: their
// own project, or for hooks of user and machine the one that the agent works in.
func (e *Environment) projectDir(s *candidate.Scope) string {
	if s.Project != "" {
		return s.Root
	}
	if e.Workspace.Project == "" {
		return ""
	}
	return e.Workspace.Root
}

// inFolder reports whether a path leads into a folder, as written or through
// links.
func inFolder(folder, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return files.Within(folder, path) || err == nil && files.Within(folder, real)
}

// SearchPath is the PATH that the hooks of a scope get.
func (e *Environment) SearchPath(s *candidate.Scope) string {
	if path, ok := e.memo.paths[s]; ok {
		return path
	}
	path := ""
	for _, variable := range e.sharedEnv(s, nil) {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	e.memo.paths[s] = path
	return path
}

// Variables returns the environment of a hook's program. What many hooks share is
// made once.
func (e *Environment) Variables(f *candidate.Hook, action string) []string {
	env := append(slices.Clip(e.sharedEnv(f.Scope, f.Resolution.Hook.Env)), f.OfPython()...)
	return append(env,
		hookenv.VarAction+"="+action, hookenv.VarProjectDir+"="+e.projectDir(f.Scope), hookenv.VarFile+"="+f.HookFile())
}

// hookdFor is the hookd whose commands get and reply a hook uses: the running one, or
// where this package is part of another program, the one on the hook's own PATH, on
// which no folder of a project is.
func (e *Environment) hookdFor(env []string) string {
	if e.Starter.Hookd != "" {
		return e.Starter.Hookd
	}
	for _, one := range env {
		if path, is := strings.CutPrefix(one, "PATH="); is {
			return interpreter.LookPath("hookd", path)
		}
	}
	return ""
}

// envKey names an environment within a load.
type envKey struct {
	scope *candidate.Scope
	named string
}

// sharedEnv is made once for all hooks of a scope that name the same variables:
// it follows the links of every folder on PATH, and names the hookd that they use.
func (e *Environment) sharedEnv(s *candidate.Scope, named []string) []string {
	key := envKey{s, strings.Join(named, "\x00")}
	shared, ok := e.memo.envs[key]
	if !ok {
		shared = hookenv.Allowed(e.EnvConfig(s, named))
		if program := e.hookdFor(shared); program != "" {
			shared = append(shared, hookenv.VarProgram+"="+program)
		}
		e.memo.envs[key] = shared
	}
	return shared
}

// expand turns ~/x and ./x into absolute paths.
func (e *Environment) expand(path string, s *candidate.Scope) string {
	if path = files.ExpandHome(path, e.Home); !filepath.IsAbs(path) {
		return filepath.Join(s.Root, path)
	}
	return path
}

// WithoutCode leaves out variables that make programs load code and are named for
// hooks of a layer that does not say what their value is: it comes from the one who
// started hookd. They are not passed on.
func (e *Environment) WithoutCode(layer protocol.Layer, names []string) []string {
	if layer == protocol.User {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), hookenv.LoadsCode)
}

// ChecksFor are the checks of who could change what a layer's hooks are made of.
// Of the managed layer that may be nobody but root, the user included.
func (e *Environment) ChecksFor(layer protocol.Layer) *ownership.Walk {
	checks := ownership.User(e.Exempt...)
	if layer != protocol.Managed {
		return checks
	}
	checks.Strict = true
	checks.Owners = func(uid int) bool { return uid == 0 }
	if m := e.ManagedLayer; m != nil {
		checks.Owners = func(uid int) bool { return uid == 0 || uid == m.Owner }
		checks.Top = m.Top
	}
	return checks
}
