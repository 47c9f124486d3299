package process

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// guardian is our side of the process that ends all running programs when we
// are killed. It notices our death by the end of a pipe, which the kernel closes
// whatever ends us. Should the guardian itself die, another one takes over.
type guardian struct {
	mu        sync.Mutex
	hello     string // first line to a new guardian process
	pipe      *os.File
	running   map[int]guardRecord // by the number each run has here
	numbered  int
	process   *os.Process
	dismissed bool
	done      sync.WaitGroup
}

// Lines to the guardian process.
const (
	guardCgroup = "cgroup " // and the folder of the control group that holds all programs
	guardBegan  = "+ "      // number of the run; root, start and tag of its program
	guardEnded  = "- "      // number of the run
)

// guardianPause keeps a guardian that dies at once from being restarted in a
// tight loop; guardianWriteTimeout is how long it may not read.
const (
	guardianPause        = 200 * time.Millisecond
	guardianWriteTimeout = 100 * time.Millisecond
)

func newGuardian(c containment) (*guardian, error) {
	g := &guardian{running: make(map[int]guardRecord)}
	if groups, ok := c.(*cgroups); ok {
		g.hello = guardCgroup + groups.dir + "\n"
		groups.moved = g.watch
	}
	if err := g.start(); err != nil {
		return nil, fmt.Errorf("start the guardian process: %w", err)
	}
	g.done.Go(g.restartWhenDead)
	return g, nil
}

// watch makes another control group the one that holds all programs.
func (g *guardian) watch(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hello = guardCgroup + dir + "\n"
	g.send(g.hello)
}

func guardianReport(has bool) string {
	if has {
		return "a guardian process ends everything that runs when hookd is killed"
	}
	return "a killed hookd takes the hooks' own processes with it (parent-death signal), but not what they started"
}

// start starts a guardian process and tells it what runs. g.mu is held, or g is
// not shared yet.
func (g *guardian) start() error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		ours.Close()
		return err
	}
	defer null.Close()
	process, err := startProcess(ownExecutable, []string{guardianName}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []*os.File{null, null, null, theirs},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		ours.Close()
		return err
	}
	g.pipe, g.process = ours, process
	g.send(g.hello)
	for run, r := range g.running {
		g.send(r.line(run))
	}
	return nil
}

// restartWhenDead waits for the guardian process and starts another when it dies.
func (g *guardian) restartWhenDead() {
	for { // only replace writes g.process
		g.process.Wait()
		waitedFor(g.process.Pid)
		if !g.replace() {
			return
		}
		time.Sleep(guardianPause)
	}
}

// replace starts another guardian process, and reports false when there is none
// any more.
func (g *guardian) replace() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pipe.Close()
	return !g.dismissed && g.start() == nil
}

// send writes to the guardian. One that does not read is no guardian: it is ended,
// and restartWhenDead starts another.
func (g *guardian) send(line string) {
	g.pipe.SetWriteDeadline(time.Now().Add(guardianWriteTimeout))
	if _, err := g.pipe.WriteString(line); errors.Is(err, os.ErrDeadlineExceeded) {
		g.process.Kill()
	}
}

// endIfStopped kills a guardian that is stopped, so that another takes its place: it
// would not notice our death.
func (g *guardian) endIfStopped() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if e, ok := readEntry(g.process.Pid); ok && e.stopped && e.parent == os.Getpid() {
		g.process.Kill()
	}
}

func (r guardRecord) line(run int) string {
	return fmt.Sprintf("%s%d %d %d %s\n", guardBegan, run, r.root, r.start, r.envTag)
}

// begins tells of a program that is about to be started, by its tag: we may be
// killed before its process id is known. It returns the run's number, 0 for a
// cell that needs no guardian.
func (g *guardian) begins(c cell) (run int) {
	guarded, ok := c.(guardianRecorded)
	if g == nil || !ok {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.numbered++
	if r := guarded.record(); r.envTag != "" {
		g.note(g.numbered, r)
	}
	return g.numbered
}

// began tells of the started program.
func (g *guardian) began(run int, c cell) {
	if run == 0 {
		return
	}
	r := c.(guardianRecorded).record()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.note(run, r)
}

func (g *guardian) note(run int, r guardRecord) {
	g.running[run] = r
	g.send(r.line(run))
}

// ended tells that nothing of the run is alive.
func (g *guardian) ended(run int) {
	if run == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, run)
	g.send(fmt.Sprintf("%s%d\n", guardEnded, run))
}

// dismiss ends the guardian process and waits for it. Nothing runs any more that
// it would have to end.
func (g *guardian) dismiss() {
	g.mu.Lock()
	g.dismissed = true
	g.process.Kill()
	g.mu.Unlock()
	g.done.Wait()
}

// guardianQuiet is how long every look must find nobody. The orphans are another
// process's here, so a look cannot tell, as a sub-reaper's can, that nobody was
// started while it was taken; one that lives is seen by the next.
const guardianQuiet = 50 * time.Millisecond

// endTrees kills until nothing has been alive for a while.
func endTrees(trees map[int]*tree) {
	began := time.Now()
	for busy := began; time.Since(busy) < guardianQuiet && time.Since(began) < closeTimeout; {
		table, err := processTable()
		quiet := err == nil
		for _, t := range trees {
			members, unsure := t.members(table, os.Getpid())
			quiet = quiet && len(unsure) == 0
			for _, e := range members {
				if e.zombie {
					continue
				}
				if t.root != 0 {
					syscall.Kill(-t.root, syscall.SIGKILL)
				}
				killEntry(e)
				quiet = false
			}
		}
		if !quiet {
			busy = time.Now()
		}
		time.Sleep(time.Millisecond)
	}
}
