package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// belonging says whether a process is one of a tree's.
type belonging int

const (
	stranger belonging = iota
	member
	unclear // cannot be told now, and will be soon
)

// readEnvTag looks for the tag in the environment that a live process was started
// with. A process that is just starting another program has none for a moment:
// the old one is gone and the new one not there yet. It is no stranger for that.
func readEnvTag(pid int, mark string) belonging {
	if mark == "" {
		return stranger
	}
	folder := "/proc/" + strconv.Itoa(pid)
	for range 3 {
		text, err := readEnviron(folder + "/environ")
		switch {
		case len(text) > 0:
			return findEnvTag(text, mark)
		case errors.Is(err, os.ErrPermission):
			// The kernel gives the files of a process whose first thread is dead to root.
			if e, err := lookUp(pid); err == nil && e.headless {
				return readThreads(folder+"/task", mark)
			}
			return stranger // of another user
		case err != nil && !errors.Is(err, os.ErrNotExist) && err != unix.ESRCH:
			return unclear // no descriptor left to look with
		}
		e, err := lookUp(pid)
		switch {
		case err == errNoProcess || e.zombie:
			return stranger // dead
		case err != nil:
			return unclear
		case e.headless:
			return readThreads(folder+"/task", mark)
		case e.environ == environNone:
			return unclear
		case e.environ == environEmpty:
			return stranger
		}
		// The new environment came in between, so look again; or the process hides it.
	}
	return stranger
}

// readThreads looks where the live threads of a process keep its environment.
func readThreads(folder, mark string) belonging {
	threads, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return unclear
	}
	for _, thread := range threads {
		if text, _ := readEnviron(folder + "/" + thread.Name() + "/environ"); len(text) > 0 {
			return findEnvTag(text, mark)
		}
	}
	return unclear
}

func findEnvTag(environ []byte, mark string) belonging {
	for len(environ) > 0 {
		var variable []byte
		if variable, environ, _ = bytes.Cut(environ, []byte{0}); string(variable) == mark {
			return member
		}
	}
	return stranger
}

// readEnviron reads with a single call: the kernel ends the file between two
// calls when the process starts another program, and half an environment may lack
// the tag.
func readEnviron(path string) ([]byte, error) {
	for size := 16 << 10; ; size *= 8 {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		text := make([]byte, size)
		n, err := unix.Read(fd, text)
		unix.Close(fd)
		if n < size {
			return text[:max(n, 0)], err
		}
	}
}
