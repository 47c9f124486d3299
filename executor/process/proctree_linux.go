package process

// tree finds the processes that one program started, by what they cannot or
// rarely do lose: their parent, their session, their group, and the tag in the
// environment they were started with. It remembers those it has seen.
type tree struct {
	root   int // the program, leader of its own session and group; 0 while it is being started
	start  uint64
	envTag string
	known  map[int]uint64 // start time of each process seen

	// adopts, if set, is asked of a process that has lost all of these.
	adopts func(entry) bool
}

// claims reports whether the process belongs to the tree, its parent aside.
func (t *tree) claims(e entry) belonging {
	if start, ok := t.known[e.pid]; ok && start == e.start {
		return member
	}
	if e.start < t.start || e.session == 0 {
		return stranger // older than the program; not of a session made here (threads of the kernel)
	}
	if t.root != 0 && (e.session == t.root || e.group == t.root) {
		return member
	}
	if e.zombie {
		return stranger // or not: it tells no more
	}
	b := readEnvTag(e.pid, t.envTag)
	if b == stranger && t.adopts != nil && t.adopts(e) {
		return member
	}
	return b
}

// members returns the tree's processes from a table of all, and those that may
// be of it for all that can be told now. The process self is never one.
func (t *tree) members(table []entry, self int) (found, unsure []entry) {
	childrenOf := make(map[int][]entry)
	var queue []entry
	for _, e := range table {
		if e.pid == self {
			continue
		}
		childrenOf[e.parent] = append(childrenOf[e.parent], e)
		switch t.claims(e) {
		case member:
			queue = append(queue, e)
		case unclear:
			unsure = append(unsure, e)
		}
	}
	seen := make(map[int]bool)
	for len(queue) > 0 {
		e := queue[0]
		queue = queue[1:]
		if seen[e.pid] {
			continue
		}
		seen[e.pid] = true
		t.known[e.pid] = e.start
		found = append(found, e)
		queue = append(queue, childrenOf[e.pid]...)
	}
	return found, unsure
}
