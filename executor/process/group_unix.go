//go:build unix

package process

import "syscall"

// groups contains a program by its process group alone.
type groups struct{ unavailable []string }

func newGroup(unavailable []string) (containment, error) {
	return &groups{unavailable: unavailable}, nil
}

func (g *groups) report() Report {
	return Report{
		Kind:        Group,
		Covers:      "every process that stays in the hook's process group",
		Misses:      "a process that leaves the group (setsid, daemons)",
		Unavailable: g.unavailable,
	}
}

func (g *groups) newContainer(c *Command) (container, error) {
	return &groupContainer{envTag: c.envTag()}, nil
}
func (g *groups) close() error { return nil }

// groupCell is one process group; its id is the program's.
type groupContainer struct {
	id     int
	envTag string // for a guardian
}

func (g *groupContainer) attach(l *launch) { l.sys.Setsid = true }
func (g *groupContainer) started(pid int)  { g.id = pid }

func (g *groupContainer) terminate() { terminateGroup(g.id) }

// exited kills the group while the unreaped program keeps its number from being
// given to another.
func (g *groupContainer) exited() { g.kill() }

func (g *groupContainer) clean() bool { return syscall.Kill(-g.id, 0) == syscall.ESRCH }

func (g *groupContainer) kill() { syscall.Kill(-g.id, syscall.SIGKILL) }

// empty is safe after the program was reaped: its number is not given out again
// while a group of that number has a member.
func (g *groupContainer) empty() bool { return !groupAlive(g.id) }

func (g *groupContainer) free() {}

// terminateGroup wakes stopped processes too, or they would not see the TERM.
func terminateGroup(id int) {
	syscall.Kill(-id, syscall.SIGTERM)
	syscall.Kill(-id, syscall.SIGCONT)
}
