package process

import (
	"syscall"
	"time"
)

// Kind is a way to hold a program's processes together so that they can be
// ended as a whole.
type Kind string

const (
	Best      Kind = ""          // the first of the others that works here
	Cgroup    Kind = "cgroup"    // Linux: a control group of version 2 of their own
	Subreaper Kind = "subreaper" // Linux: orphans become our children, and a sweep of /proc finds them
	Group     Kind = "group"     // everywhere: the process group (Windows: a job object)
)

// Report says which containment holds and what it covers, for people.
type Report struct {
	Kind        Kind
	Covers      string   // what is ended with a run
	Misses      string   // what may outlive a run, "" if nothing
	Guardian    string   // what happens to running programs when this process is killed
	Unavailable []string // the better kinds, each with the reason why it does not work here
}

// containment makes containers. One is chosen when a [Runtime] is made.
type containment interface {
	report() Report
	// container returns an empty container for one program.
	newContainer(c *Command) (container, error)
	// close removes what the containment made. All containers are free by then.
	close() error
}

// container holds one program and everything it starts. Its methods are called by
// one goroutine at a time, in the order of the listing.
type container interface {
	// attach changes how the program is started, so that it starts inside.
	attach(l *launch)
	// started tells the container its program's process id.
	started(pid int)
	// terminate asks the program's process group to end.
	terminate()
	// exited is called when the program ended by itself, before it is reaped: it
	// ends what is left at once as far as possible.
	exited()
	// clean is asked next, when the program was reaped, and reports whether it is
	// certain that nothing is left. It takes no time; false only means that empty
	// must find out.
	clean() bool
	// kill ends all processes in the container. It may be called again.
	kill()
	// empty reports whether no process of the container is alive. It is asked only
	// after the program itself was reaped.
	empty() bool
	// free gives the container back: it is empty, or its program never started.
	free()
}

// endAwaiter is a container that tells when its last process has ended. The end
// of another one must be looked for again and again.
type endAwaiter interface {
	// await returns when the container may have become empty, after d at the latest.
	await(d time.Duration)
}

// guardianRecorded is a container that a guardian process must be told about one by one. Before
// its program is started the record holds no more than the tag.
type guardianRecorded interface {
	record() guardRecord
}

// guardRecord is what a guardian knows of a running program.
type guardRecord struct {
	root   int // process id, 0 before the start
	start  uint64
	envTag string
}

// launch is what a program is started with.
type launch struct {
	path string
	argv []string
	dir  string
	env  []string
	sys  *syscall.SysProcAttr
}

// program is a started program and our ends of its three pipes.
type program interface {
	pid() int
	// exchange writes stdin and reads both outputs until the program exited and
	// its outputs are closed or drained (nil), or until it must be ended.
	exchange(c *Command, stdout, stderr *output) (held bool, cause error)
	// interrupt makes exchange return cause. Any goroutine may call it, any time.
	interrupt(cause error)
	// settle reads and drops output until the program exited, for at most d.
	discardOutput(d time.Duration) (exited bool)
	// reap waits for the exited program and returns its exit code, or -1 and the
	// signal's name.
	reap() (code int, signal string)
	// close closes our ends of the pipes.
	close()
}

// cellError is a container that could not be made. It says nothing of the program.
type containerError struct{ err error }

func (e *containerError) Error() string {
	return "its processes cannot be held together: " + e.err.Error()
}
func (e *containerError) Unwrap() error { return e.err }
