package ownership

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
)

// A Walk follows a path component by component, the way the kernel does, and
// reports whether somebody else could change what it leads to: each folder and
// link on the way must belong to the user or root and be writable by nobody
// else. Looking at the end only would miss a link in the middle of a chain.
type Walk struct {
	Owners func(uid int) bool // who may own a part
	Strict bool               // group-writable is never fine, and neither is a sticky folder
	Top    string             // parts above this folder are not looked at; "" = all up to the root
	exempt []Exemption        // where other owners or a group are all right
	Seen   map[string]string  // folder → what is wrong with it, "" = nothing
	Links  []string           // every symbolic link that was followed
}

// euid and egid say whose process this is. They are asked once: hookd never changes
// its user.
var euid, egid = os.Geteuid(), os.Getegid()

// User returns a walk that lets the user and root own each part. lifted are the
// folders in which the checks are lifted.
func User(lifted ...Exemption) *Walk {
	return &Walk{Owners: func(uid int) bool { return uid == 0 || uid == euid }, exempt: lifted, Seen: map[string]string{}}
}

// maxLinks bounds a chain of symbolic links, as the kernel does.
const maxLinks = 40

// Follow resolves path to its real path and returns in words what is unsafe on
// the way, "" if nothing is. The file at the end is looked at too.
func (w *Walk) Follow(path string) (real string, unsafe string, err error) {
	if !filepath.IsAbs(path) {
		return "", "", fmt.Errorf("%s: not an absolute path", path)
	}
	if runtime.GOOS == "windows" {
		real, err = filepath.EvalSymlinks(path)
		return real, "", err
	}
	real = "/"
	note := func(problem string) {
		if unsafe == "" {
			unsafe = problem
		}
	}
	note(w.root())
	rest := splitPath(path)
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, part)
		st, err := files.Lstat(next)
		if err != nil {
			return next, unsafe, err
		}
		switch {
		case st.Mode&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return next, unsafe, fmt.Errorf("%s: more than %d symbolic links", path, maxLinks)
			}
			if w.covers(next) && !w.MayOwn(next, st.UID) {
				note(fmt.Sprintf("the link %s belongs to another user (%d)", next, st.UID))
			}
			w.Links = append(w.Links, next)
			target, err := os.Readlink(next)
			if err != nil {
				return next, unsafe, err
			}
			if filepath.IsAbs(target) {
				real = "/"
			}
			rest = append(splitPath(target), rest...)
		case st.Mode.IsDir():
			real = next
			note(w.folder(next, st))
		default:
			real = next
			note(w.Part(next, st))
		}
	}
	return real, unsafe, nil
}

func splitPath(path string) []string {
	var parts []string
	for _, part := range strings.Split(path, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

func (w *Walk) covers(path string) bool { return w.Top == "" || files.Within(w.Top, path) }

func (w *Walk) root() string {
	if problem, seen := w.Seen["/"]; seen {
		return problem
	}
	st, err := files.Lstat("/")
	if err != nil {
		return err.Error()
	}
	return w.folder("/", st)
}

func (w *Walk) folder(path string, st files.Info) string {
	problem, seen := w.Seen[path]
	if !seen {
		problem = w.Part(path, st)
		w.Seen[path] = problem
	}
	return problem
}

// Part judges one file or folder.
func (w *Walk) Part(path string, st files.Info) string {
	switch {
	case !w.covers(path) || runtime.GOOS == "windows":
		return ""
	case !w.MayOwn(path, st.UID):
		return fmt.Sprintf("%s belongs to another user (%d)", path, st.UID)
	case w.writableByOthers(path, st):
		return fmt.Sprintf("%s is writable by others (mode %04o)", path, st.Mode.Perm())
	}
	return ""
}

// MayOwn reports whether a part of a path may belong to a user.
func (w *Walk) MayOwn(path string, uid int) bool {
	return w.Owners(uid) || slices.ContainsFunc(w.exempt, func(l Exemption) bool {
		return slices.Contains(l.owners, uid) && files.Within(l.path, path)
	})
}

// writableByOthers allows two customs that give nobody else a way in: sticky
// folders such as /tmp, where only the owner may replace an entry, and a group
// that is the user's own.
func (w *Walk) writableByOthers(path string, st files.Info) bool {
	switch {
	case st.Mode&0o022 == 0:
		return false
	case w.Strict:
		return true
	case st.Mode.IsDir() && st.Mode&fs.ModeSticky != 0:
		return false
	case st.Mode&0o002 != 0:
		return true
	case !groupMayWrite(path, st):
		return false
	}
	return !slices.ContainsFunc(w.exempt, func(l Exemption) bool { return l.groupWrite && files.Within(l.path, path) })
}
