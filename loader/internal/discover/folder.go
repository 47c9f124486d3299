package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// maxCandidates bounds how many files of one hooks folder are looked at.
const maxCandidates = 10_000

// Names are the names in a hooks folder, each list in byte order.
type Names struct {
	Hooks []string        // that may be hooks
	Rules []string        // of files of rules
	Sides map[string]bool // of side files, those with a wrong ending too
	More  bool            // there are more names than are looked at
}

// ListHooks returns the names in a hooks folder. A folder that is not there holds none.
func ListHooks(dir string) (Names, error) {
	names := Names{Sides: map[string]bool{}}
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return names, nil
	}
	if err != nil {
		return names, err
	}
	defer f.Close()
	all, err := f.Readdirnames(-1)
	if err != nil {
		return names, err
	}
	slices.Sort(all)
	for _, name := range all {
		if strings.Contains(name, sideMark) {
			names.Sides[name] = true
		}
		if strings.Contains(strings.ToLower(name), rulesMark) && !leftover(name) {
			names.Rules = append(names.Rules, name)
		}
	}
	names.Hooks = slices.DeleteFunc(all, skipped)
	if names.More = len(names.Hooks) > maxCandidates; names.More {
		names.Hooks = names.Hooks[:maxCandidates]
	}
	return names, nil
}

// hooksFolder is a folder as its files are looked at: where it really is and who
// else could change what lies in it.
type hooksFolder struct {
	dir, real, unsafe string
	checks            *ownership.Walk
}

// OpenHooks looks where a hooks folder really lies and who else could change it.
func OpenHooks(dir string, checks *ownership.Walk) hooksFolder {
	h := hooksFolder{dir: dir, checks: checks}
	var err error
	if h.real, h.unsafe, err = checks.Follow(dir); err != nil {
		h.real = dir
	}
	return h
}

// follow is [ownership.Walk.Follow] for a file of the folder; the folder itself was
// judged before. st is of what lies there, a link if it is one.
func (h *hooksFolder) follow(name string) (real, unsafe string, st files.Info, err error) {
	real = filepath.Join(h.real, name)
	if st, err = files.Lstat(real); err != nil {
		return real, h.unsafe, st, err
	}
	if st.Mode&fs.ModeSymlink != 0 {
		real, unsafe, err = h.checks.Follow(filepath.Join(h.dir, name))
		return real, unsafe, st, err
	}
	if unsafe = h.unsafe; unsafe == "" {
		unsafe = h.checks.Part(real, st)
	}
	return real, unsafe, st, nil
}

// look reads one file of a hooks folder. A folder, or a link to one, is no
// candidate: the result is nil.
func (h *hooksFolder) look(name string) *candidate.File {
	c := &candidate.File{Name: name, Path: filepath.Join(h.dir, name)}
	c.Real = c.Path
	real, unsafe, _, err := h.follow(name)
	if err != nil {
		c.Problem = unreadable(c.Path, err)
		return c
	}
	c.Real, c.Unsafe = real, unsafe
	if c.Head, err = files.ReadHead(c.Path); err != nil {
		return unreadFile(c, err)
	}
	c.Program, c.Problem = interpreter.ReadProgram(c.Head.Bytes)
	if bad := checkMode(c.Path, c.Head.Stat); bad != nil {
		c.Problem = bad
	}
	if !utf8.ValidString(name) { // no record could name it
		c.Problem = &report.Problem{Why: "its name is not valid UTF-8", Remedy: "rename it"}
	}
	return c
}

// unreadFile returns the file with the reason why it could not be read, nil if it is a
// folder.
func unreadFile(c *candidate.File, err error) *candidate.File {
	st, statErr := files.Stat(c.Path)
	switch {
	case statErr != nil:
		c.Problem = unreadable(c.Path, statErr)
	case st.Mode.IsDir():
		return nil
	case !st.Mode.IsRegular():
		c.Problem = &report.Problem{Why: "it is " + kindName(st.Mode) + ", not a regular file", Remedy: "remove it, or put a program there"}
	default:
		c.Problem = unreadable(c.Path, err)
	}
	return c
}

func checkMode(path string, st files.Info) *report.Problem {
	switch {
	case st.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return &report.Problem{Why: "it runs with another user's or group's rights (setuid or setgid)", Remedy: "chmod ug-s " + path}
	case !files.MayExecute(path, st) && !files.BarredByMount(path, st): // see interpreter.MountTrouble
		return &report.Problem{Why: "it is not executable", Remedy: "chmod +x " + path}
	}
	return nil
}

func unreadable(path string, err error) *report.Problem {
	switch {
	case errors.Is(err, files.ErrBeingWritten):
		return movingTrouble
	case errors.Is(err, fs.ErrNotExist):
		return &report.Problem{Why: "the link leads to nothing", Remedy: "remove it, or restore what it leads to"}
	case errors.Is(err, fs.ErrPermission):
		return &report.Problem{Why: "it cannot be read: permission denied", Remedy: "chmod u+r " + path}
	}
	return &report.Problem{Why: fmt.Sprintf("it cannot be read: %v", err), Remedy: "make it a readable regular file"}
}

func kindName(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return strings.TrimSpace(mode.Type().String())
}

var movingTrouble = &report.Problem{Why: "it is being written", Remedy: "wait until it is complete"}
