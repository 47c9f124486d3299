package process

// tree finds the processes that one program started, by what they cannot or
// rarely do lose: their parent, their session, their group, and the mark in the
// environment they were started with. It remembers those it has seen.
type tree struct {
	root  int // the program, leader of its own session and group
	start uint64
	mark  string
	known map[int]uint64 // start time of each process seen
}

// claims reports whether the process belongs to the tree, its parent aside.
func (t *tree) claims(e entry) bool {
	if start, ok := t.known[e.pid]; ok && start == e.start {
		return true
	}
	if e.start < t.start {
		return false // older than the program
	}
	return e.pid == t.root || e.session == t.root || e.group == t.root || (!e.zombie && hasMark(e.pid, t.mark))
}

// members returns the tree's processes from a table of all. The process self is
// never one.
func (t *tree) members(table []entry, self int) []entry {
	childrenOf := make(map[int][]entry)
	var found, queue []entry
	for _, e := range table {
		if e.pid == self {
			continue
		}
		childrenOf[e.parent] = append(childrenOf[e.parent], e)
		if t.claims(e) {
			queue = append(queue, e)
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
	return found
}
