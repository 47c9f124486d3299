package files

import (
	"path/filepath"
	"time"
)

// Inputs are all files and folders that a load looked at, by their stat; the
// zero Info means that it is not there. While none of them changes, a
// load would find the same.
type Inputs map[string]Info

// See notes a path before it is read, so that a change during the reading shows
// as a difference later.
func (in Inputs) See(path string) {
	if _, seen := in[path]; seen || path == "" {
		return
	}
	st, _ := Stat(path)
	in[path] = forget(st)
}

// Read notes a file that was read, by the stat under which it was opened.
func (in Inputs) Read(path string, st Info) {
	if _, seen := in[path]; !seen {
		in[path] = forget(st)
	}
}

// forget drops what says nothing about the content: of a folder its size.
func forget(st Info) Info {
	if st.Mode.IsDir() {
		st.Size = 0
	}
	return st
}

// Changed reports whether anything is different now.
func (in Inputs) Changed() bool {
	for path, was := range in {
		if st, _ := Stat(path); forget(st) != was {
			return true
		}
	}
	return false
}

// Stable reports whether every last change lay long enough before a moment
// for equal stats to mean equal content.
func (in Inputs) Stable(then time.Time) bool {
	for _, st := range in {
		if !st.Stable(then) && !st.Mode.IsDir() {
			return false
		}
	}
	return true
}

// Folders lists what must be watched to notice a change of the inputs: the
// folders themselves, and for everything the folder above it. Of what is not
// there yet it is the nearest folder above that is.
func (in Inputs) Folders() []string {
	seen := map[string]bool{}
	for path, st := range in {
		if st.Mode.IsDir() {
			seen[path] = true
		}
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			if known, looked := in[dir]; looked && known.Mode.IsDir() || seen[dir] {
				seen[dir] = true
				break
			}
			if st, err := Stat(dir); err == nil && st.Mode.IsDir() {
				seen[dir] = true
				break
			}
			if filepath.Dir(dir) == dir {
				break
			}
		}
	}
	list := make([]string, 0, len(seen))
	for dir := range seen {
		list = append(list, dir)
	}
	return list
}
