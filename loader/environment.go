package loader

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
)

// An environment is what the programs of one load start with: variables, search
// path, working directory, and who vouches for what they are made of.
type environment struct {
	*report.Report
	place        workspace.Workspace
	inner        *scope // the innermost project, nil without one
	home, state  string
	hookd        string // the running hookd, "" if it is part of another program
	managedLayer *ManagedLayer
	exempt       []ownership.Exemption
	hashes       *files.HashCache
	hooksFolder  string // in place of each scope's own, "" for that
	checkouts    checkouts
	memo         environmentMemo
}

// environmentMemo is what many hooks share, made once in a load.
type environmentMemo struct {
	paths    map[*scope]string
	envs     map[envKey][]string
	builders map[builderKey]*bundle.Builder
	starters map[interpreter.StarterKey]interpreter.Starter // by the line that names them
	startsIn string                                         // where the user's programs start, "" before it is wanted
}

func (l *loader) newEnvironment(r *report.Report, scopes []*scope) *environment {
	e := &environment{
		Report: r, place: l.Workspace, home: l.opts.Home, state: l.state, hookd: l.opts.Program, managedLayer: l.opts.Managed, exempt: l.exempt, hashes: l.files,
		checkouts: checkouts{l.opts.Home, map[string]bool{}},
		memo: environmentMemo{
			paths: map[*scope]string{}, envs: map[envKey][]string{}, builders: map[builderKey]*bundle.Builder{},
			starters: map[interpreter.StarterKey]interpreter.Starter{},
		},
	}
	if scopes[0].layer == protocol.Project {
		e.inner = scopes[0]
	}
	return e
}

// envConfig is what the environment of a scope's hooks is made from.
func (e *environment) envConfig(s *scope, named []string) hookenv.Config {
	c := hookenv.Config{
		Environ: os.Environ(), Project: e.projectDir(s), Machine: s.layer == protocol.Managed,
		Names:  e.withoutCode(s.layer, slices.Concat(s.own.Hooks.Env[s.layer], named)),
		Usable: e.checkouts.outside,
	}
	if s.layer == protocol.Managed {
		// A program of a folder that somebody else may write would answer in place
		// of the one that the machine's hook means.
		checks := e.checksFor(s.layer)
		c.Usable = func(folder string) bool {
			_, unsafe, err := checks.Follow(folder)
			return err == nil && unsafe == ""
		}
	}
	for _, dir := range s.own.Hooks.Path[s.layer] {
		dir = e.expand(dir, s)
		// What a project brings along is run from private copies only, so it
		// cannot put its own folders before everybody else's programs.
		if s.needsTrust() && inFolder(s.project, dir) {
			continue
		}
		c.Path = append(c.Path, dir)
	}
	return c
}

// projectDir is the project that the hooks of a scope are told: their own, and
// for those of user and machine the one that the agent works in.
func (e *environment) projectDir(s *scope) string {
	if s.project != "" {
		return s.root
	}
	if e.place.Project == "" {
		return ""
	}
	return e.place.Root
}

// inFolder reports whether a path leads into a folder, as written or through
// links.
func inFolder(folder, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return files.Within(folder, path) || err == nil && files.Within(folder, real)
}

// searchPath is the PATH that the hooks of a scope get.
func (e *environment) searchPath(s *scope) string {
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

// hookFile is the hook's own file: what messages name, and what is never run
// twice at once while an old run of it still ends.
func (f *subject) hookFile() string {
	if f.path != "" {
		return f.path
	}
	return f.Own
}

// env is the environment of a layer's hook. All that many hooks share is made
// once.
func (e *environment) env(f *hookCandidate, action string) []string {
	env := append(slices.Clip(e.sharedEnv(f.scope, f.resolution.Hook.Env)), f.ofPython()...)
	if program := e.hookdFor(env); program != "" {
		env = append(env, hookenv.VarProgram+"="+program)
	}
	return append(env,
		hookenv.VarAction+"="+action, hookenv.VarProjectDir+"="+e.projectDir(f.scope), hookenv.VarFile+"="+f.hookFile())
}

// hookdFor is the hookd whose commands get and reply a hook uses: the running one, or
// where this package is part of another program, the one on the hook's own PATH, on
// which no folder of a project is.
func (e *environment) hookdFor(env []string) string {
	if e.hookd != "" {
		return e.hookd
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
	scope *scope
	named string
}

// sharedEnv is made once for all hooks of a scope that name the same variables:
// it follows the links of every folder on PATH.
func (e *environment) sharedEnv(s *scope, named []string) []string {
	key := envKey{s, strings.Join(named, "\x00")}
	shared, ok := e.memo.envs[key]
	if !ok {
		shared = hookenv.Allowed(e.envConfig(s, named))
		e.memo.envs[key] = shared
	}
	return shared
}

// expand turns ~/x and ./x into absolute paths.
func (e *environment) expand(path string, s *scope) string {
	if path = files.ExpandHome(path, e.home); !filepath.IsAbs(path) {
		return filepath.Join(s.root, path)
	}
	return path
}

// withoutCode leaves out variables that make programs load code and are named for
// hooks of a layer that does not say what their value is: it comes from the one who
// started hookd. They are not passed on.
func (e *environment) withoutCode(layer protocol.Layer, names []string) []string {
	if layer == protocol.User {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), loadsCode)
}

// ofPython is what a command of Python that names a module, or is code itself,
// gets besides.
func (f *subject) ofPython() []string {
	if len(f.Words) == 0 || interpreter.KindOf(f.Words[0]) != interpreter.KindPython {
		return nil
	}
	for _, word := range f.Words[1:] {
		if !strings.HasPrefix(word, "-") {
			return nil
		}
		if interpreter.KindPython.TakesCode(word) {
			return []string{hookenv.SafePath}
		}
	}
	return nil
}
