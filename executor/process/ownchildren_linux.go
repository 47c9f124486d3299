package process

import (
	"errors"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// childRegistry distinguishes the children that this process has started from orphans
// that it inherited as a sub-reaper or as the first process of a container. It reaps
// orphans; the code that started a child waits for that child.
type childRegistry struct {
	starting sync.RWMutex // held for reading from a fork until the child is noted

	mu        sync.Mutex
	own       map[int]int       // started here and not waited for; a number may be given out again meanwhile
	inherited map[int]bool      // were there before the first program
	dedicated bool              // nothing else in this process starts programs
	zombies   map[int]time.Time // zombies that are left to others, and when each was seen first
}

// ourChildren is shared by all Runtimes of the process, which has one set of children.
var ourChildren = childRegistry{own: map[int]int{}, inherited: map[int]bool{}, zombies: map[int]time.Time{}}

// claimOrphans says that all other children are orphans, except those that exist now.
func (k *childRegistry) claimOrphans() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dedicated {
		return
	}
	k.dedicated = true
	if k.childless() {
		return
	}
	pids, _ := children(os.Getpid())
	for _, pid := range pids {
		k.inherited[pid] = true
	}
}

// start starts a child and notes it.
func (k *childRegistry) start(start func() (pid int, err error)) error {
	k.starting.RLock()
	defer k.starting.RUnlock()
	pid, err := start()
	if err == nil {
		k.mu.Lock()
		k.own[pid]++
		k.mu.Unlock()
	}
	return err
}

// waitedFor says that a child's number may be another process's by now.
func (k *childRegistry) waitedFor(pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.own[pid]--; k.own[pid] <= 0 {
		delete(k.own, pid)
	}
}

// childless reports whether this process has no child at all, which one call tells.
func (k *childRegistry) childless() bool {
	return errors.Is(unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil), unix.ECHILD)
}

// zombieTimeout is how long a zombie that no tree claims is left to anyone in
// this process may still be about to wait for it.
const zombieTimeout = 10 * time.Second

// orphans lists our children except those that were started here, and reaps the
// dead among them. Where others in this process may start children, too, a dead
// one is theirs for a while, unless it ended in a control group of ours: a fork chain
// leaves thousands. With an error the list may lack some.
func (k *childRegistry) orphans() (list []entry, err error) {
	k.starting.Lock() // nobody is a child and not noted
	defer k.starting.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	self := os.Getpid()
	pids, ok := adopted()
	if !ok {
		table, _ := processTable()
		for _, e := range table {
			if e.parent == self {
				pids = append(pids, e.pid)
			}
		}
		err = errUnlisted
	}
	pids = slices.DeleteFunc(pids, func(pid int) bool { return k.own[pid] > 0 })
	if len(pids) == 0 {
		clear(k.zombies)
		return nil, err
	}
	ours, now, corpses := startedIn(self), time.Now(), make(map[int]time.Time)
	for _, pid := range pids {
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
		first, seen := k.zombies[pid]
		if !seen {
			first = now
		}
		orphan, long := e.session != ours, now.Sub(first) > zombieTimeout
		if orphan && (k.dedicated || long || !seen && endedInOurCgroup(pid)) || k.dedicated && long {
			reapOrphan(pid)
			continue
		}
		corpses[pid] = first
	}
	k.zombies = corpses
	return list, err
}

// isStrayOrphan reports whether a process must have come to us from a program that we
// started, though it has nothing left to tell from which one. The first process of
// a container gets everybody's orphans.
func (k *childRegistry) isStrayOrphan(e entry) bool {
	self := os.Getpid()
	if e.parent != self || self == 1 || e.session == startedIn(self) {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dedicated && k.own[e.pid] == 0 && !k.inherited[e.pid] && syscall.Kill(e.pid, 0) == nil
}

// startedIn is the session of this process. Whatever a program of ours starts is in
// another one: the program began its own, and no way leads back.
func startedIn(self int) int {
	e, _ := readEntry(self)
	return e.session
}

// errUnlisted is a kernel that does not list a process's children, or lists them
// without certainty because many of them end. A table of processes is no list of
// children: it was not read in one moment.
var errUnlisted = errors.New("the children of this process cannot be listed")

func reapOrphan(pid int) {
	var status syscall.WaitStatus
	syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
}
