package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// Installer edits the configuration of agents in some places.
type Installer struct {
	Places Places
	State  string // hookd's state folder of this user

	reached func(step string) // for tests: called between the steps of Apply
}

func (in *Installer) store() store { return store(in.State) }

// Request is what to install.
type Request struct {
	Agent   *Agent
	Scope   Scope
	Program string  // absolute path of hookd, or of its messenger
	Version Version // of the agent, the zero value if it is not known
	Unknown string  // why the version is not known
}

// Plan is what an installation or a removal would do. It is a value: nothing was written.
type Plan struct {
	Agent   *Agent
	Scope   Scope
	Removal bool
	Events  []string // that are installed
	Missing []string // that the agent's version does not know, or may not
	Files   []Change
	Notes   []Note
}

// Note is a line for the person: what to know or to do, and how.
type Note struct{ Text, Remedy string }

// Changes reports whether the plan changes any file.
func (p *Plan) Changes() bool {
	for i := range p.Files {
		if p.Files[i].Changes() {
			return true
		}
	}
	return false
}

// Change is what becomes of one file.
type Change struct {
	Path   string // as the agent names it
	Real   string // the file itself, links followed
	Exists bool
	Before []byte
	After  []byte
	Delete bool
	Mode   fs.FileMode // of a file that is made

	base   []byte      // the file without our entries, where one is kept
	record *fileRecord // what is recorded afterwards, nil for nothing
}

// Changes reports whether the file changes at all.
func (c *Change) Changes() bool {
	return c.Delete || c.Exists != (c.After != nil) || !bytes.Equal(c.Before, c.After)
}

// FileError says why a file is not edited.
type FileError struct {
	File   string
	Line   int // 1-based, 0 if it is the file as a whole
	Err    error
	Remedy string
}

func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.File, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// ErrOutside says that what would be written for a project lies elsewhere.
var ErrOutside = errors.New("it leads out of the project")

// ErrNoPlace says that an agent keeps no hooks for a scope.
var ErrNoPlace = errors.New("the agent keeps no hooks there")

// Plan works out what an installation changes.
func (in *Installer) Plan(r Request) (*Plan, error) {
	a := r.Agent
	p := &Plan{Agent: a, Scope: r.Scope}
	if err := in.Places.scope(a, r.Scope); err != nil {
		return nil, err
	}
	if oldest := a.events.oldest; r.Version.Known() && oldest.Known() && r.Version.Compare(oldest) < 0 {
		return nil, fmt.Errorf("%s %s has no hooks that hookd can use: they came with %s", a.Title, r.Version, oldest)
	}
	if r.Scope == Managed {
		if err := in.Places.mayManage(a); err != nil {
			return nil, err
		}
	}
	if !utf8.ValidString(r.Program) || strings.ContainsFunc(r.Program, unicode.IsControl) {
		return nil, &FileError{File: strconv.QuoteToASCII(r.Program), Err: errors.New("a path with such characters cannot stand in the settings of agents"), Remedy: "put hookd into another folder, such as /usr/local/bin"}
	}
	known, err := in.store().records()
	if err != nil {
		return nil, err
	}
	events, missing := a.eventsBeside(r.Version, in.StatusOf(a, r.Scope).Entries)
	blocks := false
	for _, e := range events {
		p.Events = append(p.Events, e.Name)
		blocks = blocks || e.Block
	}
	p.Missing = missing
	switch a.layout.style {
	case scripts:
		err = in.planScripts(p, r, events, known)
	case plugin:
		err = in.planPlugin(p, r, known)
	default:
		err = in.planFile(p, r, events, known)
	}
	if err == nil {
		err = in.Places.contains(p)
	}
	if err != nil {
		return nil, err
	}
	p.notes(in, r, blocks)
	return p, nil
}

// contains makes sure that what is written for a project is written in it: a link that came
// with the project may lead anywhere.
func (p Places) contains(plan *Plan) error {
	if plan.Scope != Project {
		return nil
	}
	project, ok := realFolder(p.Project)
	if !ok {
		return &FileError{File: p.Project, Err: errors.New("it is no folder"), Remedy: "name the project's folder: --project=DIR"}
	}
	for i := range plan.Files {
		c := &plan.Files[i]
		if below, err := filepath.Rel(project, c.Real); err != nil || !filepath.IsLocal(below) {
			return &FileError{File: c.Path, Err: fmt.Errorf("%w, to %s", ErrOutside, c.Real), Remedy: "remove the link in the project; hookd install without --project is for your own settings"}
		}
	}
	return nil
}

func (p Places) scope(a *Agent, s Scope) error {
	if s == Project && p.Project == "" {
		return errors.New("there is no project here")
	}
	if !a.Has(p, s) {
		return fmt.Errorf("%s: %w (scope %s)", a.Title, ErrNoPlace, s)
	}
	return nil
}

// mayManage makes sure that this user may write to the machine's files of an agent.
func (p Places) mayManage(a *Agent) error {
	path := a.Paths(p, Managed)[0]
	at := path
	for _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at; _, err = os.Lstat(at) {
		at = filepath.Dir(at)
	}
	if mayWrite(at) {
		return nil
	}
	return &FileError{File: path, Err: errors.New("only the administrator of this machine may write there"), Remedy: "run the command with the administrator's rights, for example with sudo"}
}

// planFile plans the edit of one configuration file.
func (in *Installer) planFile(p *Plan, r Request, events []Event, known *records) error {
	f, err := in.Places.choose(r.Agent, r.Scope)
	if err != nil {
		return err
	}
	c, err := open(f.path)
	if err != nil {
		return err
	}
	edit := edit{in: in, agent: r.Agent, file: f, old: known.find(c.Real)}
	c.record = &fileRecord{Agent: r.Agent.Name, Scope: r.Scope, File: c.Real, At: time.Now().UTC()}
	if err := edit.install(c, r, events); err != nil {
		return explain(c.Path, err)
	}
	p.Files = append(p.Files, *c)
	if r.Agent.layout.also == nil {
		return nil
	}
	for path, text := range r.Agent.layout.also(in.Places, r.Scope) {
		if err := in.planOwn(p, r, path, []byte(text), 0o644, known); err != nil {
			return err
		}
	}
	return nil
}

// explain turns an error of the editors into one that names the file.
func explain(path string, err error) error {
	if syntax := (*configtext.Error)(nil); errors.As(err, &syntax) {
		return &FileError{File: path, Line: syntax.Line, Err: errors.New(syntax.Message), Remedy: "correct the file; it was not touched"}
	}
	var file *FileError
	if errors.As(err, &file) {
		return err
	}
	return &FileError{File: path, Err: err, Remedy: "it was not touched"}
}

// choose returns the file of a scope that hooks go into: the first that holds some, else
// the first.
func (p Places) choose(a *Agent, s Scope) (file, error) {
	files := a.layout.files(p, s)
	for i, f := range files {
		if len(files) == 1 {
			break
		}
		c, err := open(f.path)
		if err != nil {
			return file{}, err
		}
		if !c.Exists {
			continue
		}
		if i == 0 && !f.atRoot {
			return f, nil
		}
		root, err := configtext.Parse(f.format, c.Before)
		if err != nil {
			return file{}, explain(f.path, err)
		}
		if !f.shared && !f.atRoot || a.holdsHooks(f, root) {
			return f, nil
		}
	}
	return files[0], nil
}

// holdsHooks reports whether a file that may hold other things as well holds hooks.
func (a *Agent) holdsHooks(f file, root *configtext.Node) bool {
	if a.isBare(f, root) {
		return a.holdsEvents(root)
	}
	return a.holdsEvents(root.Get("hooks"))
}

// noFile says why what stands in the place of a file is none, so that nothing of ours is in it.
type noFile string

func (e noFile) Error() string { return string(e) }

// maxFile bounds a configuration file that is read.
const maxFile = 64 << 20

// open reads a file that may be edited. A file that is not there is no error.
func open(path string) (*Change, error) {
	c := &Change{Path: path, Real: path, Mode: 0o644}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		folder, real := realFolder(filepath.Dir(path))
		if !real {
			return nil, &FileError{File: path, Err: fmt.Errorf("%s is no folder", folder), Remedy: "move it away"}
		}
		c.Real = filepath.Join(folder, filepath.Base(path))
		return c, nil
	}
	if err == nil {
		if c.Real, err = filepath.EvalSymlinks(path); errors.Is(err, fs.ErrNotExist) && info.Mode()&fs.ModeSymlink != 0 {
			return nil, &FileError{File: path, Err: noFile("a link that leads nowhere"), Remedy: "remove the link, or make the file that it names"}
		}
	}
	if err == nil {
		info, err = os.Stat(c.Real)
	}
	switch {
	case err != nil && info != nil && info.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, fs.ErrPermission):
		return nil, &FileError{File: path, Err: noFile("a link that leads to itself"), Remedy: "remove the link"}
	case err != nil:
		return nil, &FileError{File: path, Err: fsutil.WithoutPath(err), Remedy: "make the file readable for you"}
	case info.IsDir():
		return nil, &FileError{File: path, Err: noFile("a folder stands in the place of the file"), Remedy: "move the folder away"}
	case !info.Mode().IsRegular():
		return nil, &FileError{File: path, Err: noFile("it is no regular file"), Remedy: "move it away"}
	}
	if c.Before, err = fsutil.ReadRegular(c.Real, maxFile); err != nil {
		return nil, &FileError{File: path, Err: fsutil.WithoutPath(err), Remedy: "make the file readable for you"}
	}
	c.Exists, c.Mode = true, info.Mode().Perm()
	return c, nil
}

// realFolder returns the real path of a folder that may not be there, and whether what is
// there of it are folders.
func realFolder(path string) (real string, ok bool) {
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		info, err := os.Stat(resolved)
		return resolved, err == nil && info.IsDir()
	}
	if _, err := os.Lstat(path); err == nil || filepath.Dir(path) == path {
		return path, false
	}
	above, ok := realFolder(filepath.Dir(path))
	if !ok {
		return above, false
	}
	return filepath.Join(above, filepath.Base(path)), true
}

// Here returns the installer for this process: its user, its machine and a project, ""
// for none.
func Here(state, project string) (*Installer, error) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		account, err := hookenv.Account()
		if err != nil || !filepath.IsAbs(account.HomeDir) {
			return nil, errors.New("HOME is not set, and agents keep their configuration there")
		}
		home = account.HomeDir
	}
	return &Installer{State: state, Places: Places{Home: home, Project: project, OS: runtime.GOOS, Getenv: os.Getenv}}, nil
}
