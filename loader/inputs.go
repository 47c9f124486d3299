package loader

import "time"

// inputs are all files and folders that a load looked at, by their stat; the
// zero stat stands for one that is not there. While none of them changes, a
// load would find the same.
type inputs map[string]fileStat

// see notes a path before it is read, so that a change during the reading shows
// as a difference later.
func (in inputs) see(path string) {
	if _, seen := in[path]; seen || path == "" {
		return
	}
	st, _ := stat(path)
	in[path] = forget(st)
}

// forget drops what says nothing about the content: of a folder its size.
func forget(st fileStat) fileStat {
	if st.Mode.IsDir() {
		st.Size = 0
	}
	return st
}

// changed reports whether anything is different now.
func (in inputs) changed() bool {
	for path, was := range in {
		if st, _ := stat(path); forget(st) != was {
			return true
		}
	}
	return false
}

// settled reports whether every last change lay far enough behind at a moment
// for equal stats to mean equal content.
func (in inputs) settled(then time.Time) bool {
	for _, st := range in {
		if !st.settled(then) && !st.Mode.IsDir() {
			return false
		}
	}
	return true
}
