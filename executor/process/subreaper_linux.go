package process

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
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
	roots   map[int]bool      // programs that run, or are not waited for yet: their own runs do that
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
	return &sweptCell{owner: s, tree: tree{mark: c.mark(), known: make(map[int]uint64)}, dead: make(map[int]uint64)}, nil
}

// sweptCell is one program's process group and what a sweep finds besides.
type sweptCell struct {
	owner *subreapers
	tree  tree
	dead  map[int]uint64 // zombies that a sweep has seen: start time of each
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
func (s *sweptCell) exited() { syscall.Kill(-s.tree.root, syscall.SIGKILL) }

func (s *sweptCell) clean() bool { return false }

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
func (s *sweptCell) empty() bool {
	s.owner.reaped(s.tree.root)
	children, err := s.owner.ourChildren()
	young := func(e entry) bool { return e.start >= s.tree.start }
	if err == nil && !slices.ContainsFunc(children, young) {
		return true
	}
	return s.swept()
}

// swept sweeps the process table, reaps the tree's dead, and reports whether it
// is certain that nothing of the tree is alive. A process that was started while
// the table was read may be missing from it. But then its parent was there when
// the reading began, and is found alive, or has died meanwhile. So a table
// settles nothing that shows somebody dead who was not dead in the table before.
func (s *sweptCell) swept() bool {
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

// free has nothing to do: empty has found the program reaped.
func (s *sweptCell) free() {}

// orphans returns whether an entry of the table may have been left to us by a
// program that is dead: it is below us, and below no program that runs.
func (s *subreapers) orphans(table []entry) func(entry) bool {
	s.mu.Lock()
	running := maps.Clone(s.roots)
	s.mu.Unlock()
	parentOf := make(map[int]int, len(table))
	for _, e := range table {
		parentOf[e.pid] = e.parent
	}
	self := os.Getpid()
	return func(e entry) bool {
		pid := e.pid
		for range len(table) {
			if running[pid] || pid == 0 {
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

// reaped says that the number of a program may be another process's by now.
func (s *subreapers) reaped(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.roots, pid)
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
		table, _ := processTable()
		for _, e := range table {
			if e.parent == self {
				pids = append(pids, e.pid)
			}
		}
		err = errUnlisted
	}
	now, corpses := time.Now(), make(map[int]time.Time)
	for _, pid := range pids {
		if s.roots[pid] {
			continue
		}
		e, lookErr := lookUp(pid)
		if lookErr == errNoProcess {
			continue // reaped meanwhile
		}
		if lookErr != nil {
			err = lookErr
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

// errUnlisted is a kernel that does not list a process's children, or lists them
// without certainty because many of them end. A table of processes is no list of
// children: it was not read in one moment.
var errUnlisted = errors.New("the children of this process are not to be had")

func reapOrphan(pid int) {
	var status syscall.WaitStatus
	syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
}
