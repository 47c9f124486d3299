package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cgroupPrefix begins the name of the one control group that each hookd process
// makes inside its own; the process id and start time follow, for people.
const cgroupPrefix = "hookd."

// cgroups contains each program in a control group of version 2. The groups are
// made once and used again: making one costs more than starting a program.
type cgroups struct {
	own         string // the group of this process, parent of ours
	unavailable []string
	escaped     *subreapers // finds what left its group; nil where that does not work

	mu     sync.Mutex
	dir    string   // our group, parent of the containers
	handle *os.File // of dir; its lock says that we live
	idle   []*cgroupContainer
	made   int
	moved  func(dir string) // told of every dir but the first; may be nil
}

// newCgroup finds out whether a program can be started in a control group of its
// own, by nearly doing it.
func newCgroup(unavailable []string) (containment, error) {
	own, err := ownCgroup("/proc/self/mountinfo", "/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	removeStale(own)
	g := &cgroups{own: own, unavailable: unavailable}
	if escaped, err := newSubreaper(nil); err == nil {
		g.escaped = escaped.(*subreapers)
	}
	if err := g.make(); err != nil {
		return nil, err
	}
	c, err := g.makeContainer()
	if err == nil {
		err = c.probe()
		g.idle = append(g.idle, c)
	}
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// ourCgroupName begins the names of the groups that this process makes inside its own.
var ourCgroupName = sync.OnceValue(func() string {
	return fmt.Sprintf("%s%d.%d.", cgroupPrefix, os.Getpid(), startTime(os.Getpid()))
})

// endedInOurCgroup reports whether a zombie was in a control group of this process when it
// ended, which only a program that was started here, or a descendant of one, can be. The
// kernel says it also when the group is gone.
func endedInOurCgroup(pid int) bool {
	var room [4096]byte
	lines, err := readOnce("/proc/"+strconv.Itoa(pid)+"/cgroup", room[:])
	if err != nil {
		return false
	}
	at := bytes.Index(lines, []byte("0::")) // of version 2; it is the last line
	return at >= 0 && bytes.Contains(lines[at:], []byte("/"+ourCgroupName()))
}

// make creates our group. Another hookd may take a group that is not locked yet
// for a stale one, so a lost group is made again.
func (g *cgroups) make() error {
	for attempt := range 8 {
		g.dir = filepath.Join(g.own, ourCgroupName()+strconv.Itoa(attempt))
		if !fitsSlot(guardCgroup + g.dir) {
			return fmt.Errorf("make a control group: the path %s is too long", g.dir)
		}
		if err := os.Mkdir(g.dir, 0o755); errors.Is(err, os.ErrExist) {
			continue // a second Runtime of this process
		} else if err != nil {
			return fmt.Errorf("make a control group: %w", err)
		}
		handle, err := os.Open(g.dir)
		if err != nil {
			continue
		}
		if unix.Flock(int(handle.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && stillThere(handle, g.dir) {
			if g.handle != nil {
				g.handle.Close()
			}
			g.handle = handle
			return nil
		}
		handle.Close()
	}
	return fmt.Errorf("make a control group: no name is free in %s", g.own)
}

// stillThere reports whether the open folder was not removed meanwhile.
func stillThere(handle *os.File, dir string) bool {
	opened, err := handle.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(dir)
	return err == nil && os.SameFile(opened, named)
}

func (g *cgroups) report() Report {
	r := Report{
		Kind:        Cgroup,
		Covers:      "every process of a hook that stays in its control group (below " + g.own + ")",
		Misses:      "a hook may move itself out of its control group, which belongs to the user that it runs as, root or not",
		Unavailable: g.unavailable,
	}
	if g.escaped != nil {
		r.Covers += "; every process that left it and that a sweep of the process table recognises, " + sweepFinds
		r.Misses = "a process that moved itself out of its control group, as any hook may, and hides from the sweep: " + sweepMisses
	}
	return r
}

func (g *cgroups) newContainer(command *Command) (container, error) {
	c, err := g.group()
	if err != nil || g.escaped == nil {
		return c, err
	}
	return &sweptCgroup{c, g.escaped.sweep(command)}, nil
}

// group returns an empty group that nobody uses.
func (g *cgroups) group() (*cgroupContainer, error) {
	for {
		c := g.takeIdle()
		if c == nil {
			return g.makeContainer()
		}
		// Somebody may have removed it, moved into it or frozen it, while it lay idle.
		if c.look(); !c.populated && !c.frozen {
			return c, nil
		}
		c.remove()
	}
}

func (g *cgroups) takeIdle() *cgroupContainer {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.idle)
	if n == 0 {
		return nil
	}
	c := g.idle[n-1]
	g.idle = g.idle[:n-1]
	return c
}

// newFolder makes the folder of a new container, and our own again if somebody has
// removed it, as a program that tidies up control groups may.
func (g *cgroups) newFolder() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.made++
	dir := filepath.Join(g.dir, strconv.Itoa(g.made))
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, os.ErrNotExist) {
		if err := g.make(); err != nil {
			return "", err
		}
		if g.moved != nil {
			g.moved(g.dir)
		}
		dir = filepath.Join(g.dir, strconv.Itoa(g.made))
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		return "", fmt.Errorf("make a control group: %w", err)
	}
	return dir, nil
}

func (g *cgroups) makeContainer() (*cgroupContainer, error) {
	dir, err := g.newFolder()
	if err != nil {
		return nil, err
	}
	c := &cgroupContainer{groups: g, dir: dir, folder: -1, events: -1, killer: -1}
	if err := c.open(); err != nil {
		c.remove()
		return nil, err
	}
	return c, nil
}

func (g *cgroups) close() error {
	g.mu.Lock()
	idle := g.idle
	g.idle = nil
	dir, handle := g.dir, g.handle
	g.mu.Unlock()
	for _, c := range idle {
		c.remove()
	}
	err := removeCgroup(dir)
	if handle != nil {
		handle.Close()
	}
	return err
}

// cgroupCell is one control group with its files kept open.
type cgroupContainer struct {
	groups    *cgroups
	dir       string
	folder    int // what a program is started in
	events    int // cgroup.events: says whether a process is left
	killer    int // cgroup.kill
	program   int
	populated bool      // as of the last look
	frozen    bool      // a hook may do that to its own group
	killed    time.Time // Linux 6.x kills at once what is started in a group that was killed before
}

func (c *cgroupContainer) open() (err error) {
	if c.folder, err = unix.Open(c.dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open control group: %w", err)
	}
	if c.events, err = unix.Openat(c.folder, "cgroup.events", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open cgroup.events: %w", err)
	}
	if c.killer, err = unix.Openat(c.folder, "cgroup.kill", unix.O_WRONLY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open cgroup.kill (Linux 5.14 has it): %w", err)
	}
	return nil
}

// probe starts a program that does not exist. The kernel places a process before
// it looks for its program, so the error says whether placing works.
func (c *cgroupContainer) probe() error {
	l := launch{sys: &syscall.SysProcAttr{}}
	c.attach(&l)
	_, err := syscall.ForkExec("/dev/null/none", []string{"none"}, &syscall.ProcAttr{Sys: l.sys})
	if err == syscall.ENOTDIR || err == syscall.ENOENT {
		return nil
	}
	return fmt.Errorf("start a process in control group %s: %w", c.dir, err)
}

func (c *cgroupContainer) attach(l *launch) {
	l.sys.Setsid = true
	l.sys.UseCgroupFD = true
	l.sys.CgroupFD = c.folder
}

func (c *cgroupContainer) started(pid int) { c.program = pid }

func (c *cgroupContainer) terminate() { terminateGroup(c.program) }

func (c *cgroupContainer) exited() { c.kill() }

func (c *cgroupContainer) clean() bool { return !c.populated }

// killTimeout is how long the kernel has to end a group before its members are
// killed one by one, which costs more and is hardly ever needed.
const killTimeout = 3 * time.Millisecond

func (c *cgroupContainer) kill() {
	if c.look(); !c.populated {
		return
	}
	unix.Write(c.killer, []byte{'1'})
	if c.killed.IsZero() {
		c.killed = time.Now()
	} else if time.Since(c.killed) > killTimeout {
		killMembers(c.dir)
	}
}

// await may be told late: the kernel announces a group's end at most once in
// 10 ms, and its beginning counts.
func (c *cgroupContainer) await(d time.Duration) { pollOne(c.events, unix.POLLPRI, d) }

// empty needs no new look when the last one found nobody: only a process inside
// can put another one inside.
func (c *cgroupContainer) empty() bool {
	if c.populated {
		c.look()
	}
	return !c.populated
}

// look reads whether the group has a live process. Unreadable counts as yes.
func (c *cgroupContainer) look() {
	var text [64]byte
	n, err := unix.Pread(c.events, text[:], 0)
	c.populated = err != nil || !bytes.Contains(text[:n], []byte("populated 0"))
	c.frozen = err != nil || !bytes.Contains(text[:n], []byte("frozen 0"))
}

func (c *cgroupContainer) free() {
	if c.frozen || !c.killed.IsZero() {
		c.remove()
		return
	}
	g := c.groups
	g.mu.Lock()
	defer g.mu.Unlock()
	g.idle = append(g.idle, c)
}

func (c *cgroupContainer) remove() {
	for _, fd := range [...]int{c.folder, c.events, c.killer} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	removeCgroup(c.dir)
}

// ownCgroup returns the folder of this process's version 2 control group. It is
// found wherever the file system is mounted, also where version 1 is mounted, too.
func ownCgroup(mountinfo, membership string) (string, error) {
	text, err := os.ReadFile(membership)
	if err != nil {
		return "", err
	}
	path, found := "", false
	for line := range strings.Lines(string(text)) {
		if p, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			path, found = p, true
		}
	}
	if !found || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/..") {
		return "", errors.New("this process is in no control group of version 2 that is visible here")
	}
	mounts, err := os.ReadFile(mountinfo)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mounts)) {
		if root, point, ok := cgroup2Mount(line); ok {
			if below, inside := strings.CutPrefix(path, strings.TrimSuffix(root, "/")); inside && (below == "" || below[0] == '/') {
				return filepath.Join(point, below), nil
			}
		}
	}
	return "", errors.New("no file system of type cgroup2 is mounted")
}

// cgroup2Mount reads one line of mountinfo: id, parent, device, root, mount
// point, options, optional fields, "-", type, source, more.
func cgroup2Mount(line string) (root, point string, ok bool) {
	before, after, _ := strings.Cut(line, " - ")
	fields := strings.Fields(before)
	if len(fields) < 6 || !strings.HasPrefix(after, "cgroup2 ") {
		return "", "", false
	}
	return unescapeMount(fields[3]), unescapeMount(fields[4]), true
}

// unescapeMount undoes mountinfo's octal escapes of blanks and backslashes.
var mountEscapes = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func unescapeMount(s string) string { return mountEscapes.Replace(s) }
