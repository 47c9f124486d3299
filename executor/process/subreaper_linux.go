package process

import (
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// subreapers contains programs by making this process the one that orphans come
// to. So an escaped process, or an ancestor of it, is always our child, and a
// sweep of /proc finds it.
type subreapers struct {
	passed []string

	mu      sync.Mutex
	roots   map[int]bool      // programs that run: their own runs wait for them
	corpses map[int]time.Time // zombies that no tree claims, and when each was seen first
}

func newSubreaper(passed []string) (containment, error) {
	if _, err := lookUp(os.Getpid()); err != nil {
		return nil, fmt.Errorf("read the process table in /proc: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	return &subreapers{passed: passed, roots: make(map[int]bool), corpses: make(map[int]time.Time)}, nil
}

func (s *subreapers) report() Report {
	return Report{
		Kind:   Subreaper,
		Covers: "every process of a hook that a sweep of the process table recognises, by parent, session, group, or the mark in its environment",
		Misses: "a chain of processes that each leave the group, start the next and end, faster than the sweep; a daemon that has also emptied its environment; processes of other users",
		Passed: s.passed,
	}
}

// close leaves the sub-reaper flag set: it does no harm.
func (s *subreapers) close() error { return nil }

func (s *subreapers) cell(c *Command) (cell, error) {
	return &sweptCell{owner: s, tree: tree{mark: c.mark(), known: make(map[int]uint64)}}, nil
}

// sweptCell is one program's process group and what a sweep finds besides.
type sweptCell struct {
	owner *subreapers
	tree  tree
}

func (s *sweptCell) attach(l *launch) {
	l.sys.Setsid = true
	if s.tree.mark == "" {
		s.tree.mark = "HOOKD_RUN=" + rand.Text()
		l.env = append(slices.Clip(l.env), s.tree.mark)
	}
}

func (s *sweptCell) started(pid int) {
	s.tree.root, s.tree.start = pid, startTime(pid)
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	s.owner.roots[pid] = true
}

func (s *sweptCell) terminate() { terminateGroup(s.tree.root) }

// exited ends the group while the unreaped program keeps its number from being
// given to another. The sweep follows behind the result.
func (s *sweptCell) exited() bool {
	syscall.Kill(-s.tree.root, syscall.SIGKILL)
	return false
}

func (s *sweptCell) record() guardRecord {
	return guardRecord{root: s.tree.root, start: s.tree.start, mark: s.tree.mark}
}

// kill ends the group in one stroke, which no fork inside it can outrun, and
// then whoever left the group.
func (s *sweptCell) kill() {
	syscall.Kill(-s.tree.root, syscall.SIGKILL)
	// A process that is killed while it forks leaves a child behind: look again
	// as long as there is somebody new.
	killed := make(map[int]uint64)
	for range 32 {
		fresh := false
		table, _ := processTable() // empty says whether it was whole
		for _, e := range s.tree.members(table, os.Getpid()) {
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

// empty reaps the tree's orphans. Once the program is dead the top of everything
// it left is our child.
func (s *sweptCell) empty() bool {
	orphans, err := s.adopted()
	alive := err != nil // somebody may be there
	for _, e := range orphans {
		switch {
		case !e.zombie:
			alive = true
		default:
			reapOrphan(e.pid)
		}
	}
	return !alive && !groupAlive(s.tree.root)
}

// adopted returns those of our children that belong to the tree and are not a
// program that we started.
func (s *sweptCell) adopted() (list []entry, err error) {
	ours, err := s.owner.ourChildren()
	for _, e := range ours {
		if s.tree.claims(e) {
			s.tree.known[e.pid] = e.start
			list = append(list, e)
		}
	}
	return list, err
}

func (s *sweptCell) free() {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	delete(s.owner.roots, s.tree.root)
}

// corpsePatience is how long a zombie that no tree claims is left to whoever in
// this process may still be about to wait for it.
const corpsePatience = 10 * time.Second

// ourChildren lists our children except the programs that run. On the way it
// reaps zombies that nobody has waited for in a long time: an orphan may die
// before any sweep has seen to whom it belonged. With an error the list may lack
// some.
func (s *subreapers) ourChildren() (list []entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	self := os.Getpid()
	pids, ok := children(self)
	if !ok {
		var table []entry
		table, err = processTable()
		for _, e := range table {
			if e.parent == self {
				pids = append(pids, e.pid)
			}
		}
	}
	now, corpses := time.Now(), make(map[int]time.Time)
	for _, pid := range pids {
		if s.roots[pid] {
			continue
		}
		e, lookErr := lookUp(pid)
		if lookErr != nil {
			if lookErr != errNoProcess {
				err = lookErr
			}
			continue
		}
		list = append(list, e)
		if !e.zombie {
			continue
		}
		first, seen := s.corpses[pid]
		if !seen {
			first = now
		}
		if now.Sub(first) > corpsePatience {
			reapOrphan(pid)
			continue
		}
		corpses[pid] = first
	}
	s.corpses = corpses
	return list, err
}

func reapOrphan(pid int) {
	var status syscall.WaitStatus
	syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
}
