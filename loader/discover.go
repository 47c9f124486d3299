package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxCandidates bounds how many files of one hooks folder are looked at.
const maxCandidates = 10_000

// candidate is one file of a hooks folder that may be a hook.
type candidate struct {
	name    string
	path    string // in the hooks folder
	real    string // behind symbolic links
	content *content
	program program
	trouble *trouble // why it cannot run, nil if it can
	unsafe  string   // who else could change it where it lies, in words; "" if nobody
}

// listHooks returns the names in a hooks folder that are not skipped, in byte
// order. A folder that is not there holds none.
func listHooks(dir string) (names []string, more bool, err error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	all, err := f.Readdirnames(-1)
	if err != nil {
		return nil, false, err
	}
	names = slices.DeleteFunc(all, skipped)
	slices.Sort(names)
	if len(names) > maxCandidates {
		return names[:maxCandidates], true, nil
	}
	return names, false, nil
}

// look reads one file of a hooks folder. A folder, or a link to one, is no
// candidate: the result is nil.
func look(files *contentCache, checks *walk, dir, name string) *candidate {
	c := &candidate{name: name, path: filepath.Join(dir, name)}
	c.real = c.path
	real, unsafe, err := checks.follow(c.path)
	if err != nil {
		c.trouble = unreadable(c.path, err)
		return c
	}
	c.real, c.unsafe = real, unsafe
	st, err := stat(c.path)
	switch {
	case err != nil:
		c.trouble = unreadable(c.path, err)
		return c
	case st.Mode.IsDir():
		return nil
	case !st.Mode.IsRegular():
		c.trouble = &trouble{"it is " + kindName(st.Mode) + ", not a regular file", "remove it, or put a program there"}
		return c
	}
	if c.content, err = files.read(c.path); err != nil {
		c.trouble = unreadable(c.path, err)
		return c
	}
	c.program, c.trouble = readProgram(c.content.head)
	if bad := checkMode(c.path, c.content.stat); bad != nil {
		c.trouble = bad
	}
	return c
}

func checkMode(path string, st fileStat) *trouble {
	switch {
	case st.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return &trouble{"it runs with another user's or group's rights (setuid or setgid)", "chmod ug-s " + path}
	case !mayExecute(path, st):
		return &trouble{"it is not executable", "chmod +x " + path}
	}
	return nil
}

func unreadable(path string, err error) *trouble {
	switch {
	case errors.Is(err, errMoving):
		return movingTrouble
	case errors.Is(err, fs.ErrNotExist):
		return &trouble{"the link leads to nothing", "remove it, or restore what it leads to"}
	case errors.Is(err, fs.ErrPermission):
		return &trouble{"it cannot be read: permission denied", "chmod u+r " + path}
	}
	return &trouble{fmt.Sprintf("it cannot be read: %v", err), "make it a readable regular file"}
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

var movingTrouble = &trouble{"it is being written", "wait until it is complete"}
