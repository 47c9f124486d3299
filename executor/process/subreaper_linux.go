package process

import (
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// subreapers contains programs by making this process the one that orphans come
// to. So an escaped process, or an ancestor of it, is always our child, and a
// sweep of /proc finds it.
type subreapers struct {
	unavailable []string

	mu         sync.Mutex
	containers map[*sweptContainer]bool // of programs that run, or are being ended
}

func newSubreaper(unavailable []string) (containment, error) {
	if _, err := lookUp(os.Getpid()); err != nil {
		return nil, fmt.Errorf("read the process table in /proc: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	return &subreapers{unavailable: unavailable, containers: make(map[*sweptContainer]bool)}, nil
}

// What a sweep of the process table finds, and what it does not, for people.
const (
	sweepFinds  = "by parent, session, group, or the mark in its environment"
	sweepMisses = "a chain of processes that each leave, start the next and end, faster than the sweep; a daemon with an empty environment, while another program runs that may have started it, or where hookd was killed or is process 1; processes of other users"
)

func (s *subreapers) report() Report {
	return Report{
		Kind:        Subreaper,
		Covers:      "every process of a hook that a sweep of the process table recognises, " + sweepFinds,
		Misses:      sweepMisses,
		Unavailable: s.unavailable,
	}
}

// close leaves the sub-reaper flag set: it does no harm.
func (s *subreapers) close() error { return nil }

func (s *subreapers) newContainer(c *Command) (container, error) { return s.sweep(c), nil }

func (s *subreapers) sweep(c *Command) *sweptContainer {
	container := &sweptContainer{owner: s, dead: make(map[int]uint64)}
	container.tree = tree{envTag: c.envTag(), known: make(map[int]uint64), adopts: container.adopts}
	return container
}

// sweptContainer is one program's process group, and what a sweep finds outside of it.
type sweptContainer struct {
	owner *subreapers
	tree  tree
	dead  map[int]uint64 // zombies that a sweep has seen: start time of each
	alone bool           // the program has exited and left no process, not even a zombie
}

func (s *sweptContainer) attach(l *launch) {
	l.sys.Setsid = true
	if s.tree.envTag == "" {
		s.tree.envTag = RunTag + "=" + rand.Text()
		l.env = append(slices.Clip(l.env), s.tree.envTag)
	}
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.owner.containers[s] = true
}

func (s *sweptContainer) started(pid int) {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.tree.root, s.tree.start = pid, startTime(pid)
}

// adopts reports whether a process that tells nothing of where it comes from can
// only be of this tree: it came to us as an orphan, and no other program that runs
// is as old as it. One that may be of several is left to the last of them.
func (s *sweptContainer) adopts(e entry) bool {
	if !ourChildren.isStrayOrphan(e) {
		return false
	}
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	for other := range s.owner.containers {
		if other != s && other.tree.start <= e.start { // 0: it is being started
			return false
		}
	}
	return true
}

func (s *sweptContainer) terminate() { terminateGroup(s.tree.root) }

// exited ends the group while the unreaped program keeps its number from being
// given to another. The sweep follows after the result.
func (s *sweptContainer) exited() { syscall.Kill(-s.tree.root, syscall.SIGKILL) }

// clean returns true if the program has left us no orphan: anything of it that lives
// would be below one of our children.
func (s *sweptContainer) clean() bool { return s.alone || ourChildren.childless() }

func (s *sweptContainer) record() guardRecord {
	return guardRecord{root: s.tree.root, start: s.tree.start, envTag: s.tree.envTag}
}

// kill ends the group in one stroke, which no fork inside it can outrun, and
// then the processes that left the group.
func (s *sweptContainer) kill() {
	syscall.Kill(-s.tree.root, syscall.SIGKILL)
	// A process that is killed while it forks leaves a child: the table is read again
	// as long as there is a new one.
	killed := make(map[int]uint64)
	for range 32 {
		fresh := false
		table, _ := processTable() // empty says whether it was whole
		members, _ := s.tree.members(table, os.Getpid())
		for _, e := range members {
			if !e.zombie && killed[e.pid] != e.start {
				killEntry(e)
				killed[e.pid] = e.start
				fresh = true
			}
		}
		if !fresh {
			return
		}
	}
}

// empty looks twice. With the program dead, the top of everything it left is our
// child: when all our other children are older than it, nothing is left, and
// that is seen quickly. If not, all processes are looked at.
func (s *sweptContainer) empty() bool {
	orphans, err := ourChildren.orphans()
	for range 3 { // a process found dead may have left a child after the list was made
		if err != nil || !slices.ContainsFunc(orphans, s.dies) {
			break
		}
		orphans, err = ourChildren.orphans()
	}
	if err == nil && !slices.ContainsFunc(orphans, s.startedAfterRoot) {
		return true
	}
	return s.swept()
}

func (s *sweptContainer) startedAfterRoot(e entry) bool { return e.start >= s.tree.start }
func (s *sweptContainer) dies(e entry) bool             { return e.zombie && s.startedAfterRoot(e) }

// swept sweeps the process table, reaps the tree's dead, and reports whether it
// is certain that nothing of the tree is alive. A process that was started while
// the table was read may be missing from it. But then its parent was there when
// the reading began, and is found alive, or has died meanwhile. So a table
// in which a process is newly dead proves nothing.
func (s *sweptContainer) swept() bool {
	table, err := processTable()
	settled := err == nil
	members, unsure := s.tree.members(table, os.Getpid())
	orphaned := s.owner.orphans(table)
	settled = settled && !slices.ContainsFunc(unsure, orphaned)
	for _, e := range table {
		if e.zombie && e.start >= s.tree.start && s.dead[e.pid] != e.start && orphaned(e) {
			s.dead[e.pid] = e.start
			settled = false
		}
	}
	for _, e := range members {
		if !e.zombie {
			settled = false
		} else if e.parent == os.Getpid() {
			reapOrphan(e.pid)
		}
	}
	return settled
}

func (s *sweptContainer) free() {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	delete(s.owner.containers, s)
}

// orphans returns whether an entry of the table may have been left to us by a
// program that is dead: it is below us, and below no program that runs.
func (s *subreapers) orphans(table []entry) func(entry) bool {
	ourChildren.mu.Lock()
	running := maps.Clone(ourChildren.own)
	ourChildren.mu.Unlock()
	parentOf := make(map[int]int, len(table))
	for _, e := range table {
		parentOf[e.pid] = e.parent
	}
	self := os.Getpid()
	return func(e entry) bool {
		pid := e.pid
		for range len(table) {
			if running[pid] > 0 || pid == 0 {
				return false
			}
			parent, found := parentOf[pid]
			if !found || parent == self {
				return true // or its parent has just died
			}
			pid = parent
		}
		return true
	}
}
