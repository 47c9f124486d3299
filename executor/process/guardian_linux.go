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
// whatever ends us, and finds on the board what runs. Should the guardian itself die,
// another one takes over.
type guardian struct {
	board *board
	mu    sync.Mutex
	pipe  *os.File

	cgroup    int         // slot of the control group that holds all programs, -1 without one
	runs      map[int]int // slot of each run, by its number
	free      []int       // slots that were given back
	numbered  int
	process   *os.Process
	dismissed bool
	done      sync.WaitGroup
}

// guardianPause keeps a guardian that dies at once from being restarted in a
// tight loop.
const guardianPause = 200 * time.Millisecond

func newGuardian(c containment) (*guardian, error) {
	board, err := newBoard()
	if err != nil {
		return nil, fmt.Errorf("start the guardian process: %w", err)
	}
	g := &guardian{board: board, cgroup: -1, runs: make(map[int]int)}
	if groups, ok := c.(*cgroups); ok {
		g.watch(groups.dir)
		groups.moved = g.watch
	}
	if err := g.start(); err != nil {
		board.close()
		return nil, fmt.Errorf("start the guardian process: %w", err)
	}
	g.done.Go(g.restartWhenDead)
	return g, nil
}

// watch makes another control group the one that holds all programs.
func (g *guardian) watch(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.cgroup
	g.cgroup = g.put(guardCgroup + dir)
	g.clear(before)
}

// put writes a text to the board, and returns its slot, -1 if none is free. g.mu is
// held.
func (g *guardian) put(text string) int {
	slot := int(g.board.used().Load())
	if n := len(g.free); n > 0 {
		slot = g.free[n-1]
		g.free = g.free[:n-1]
	}
	if slot >= g.board.slots() {
		return -1
	}
	g.board.put(slot, text)
	return slot
}

func (g *guardian) clear(slot int) {
	if slot >= 0 {
		g.board.clear(slot)
		g.free = append(g.free, slot)
	}
}

func guardianReport(has bool) string {
	if has {
		return "a guardian process ends everything that runs when hookd is killed"
	}
	return "a killed hookd takes the hooks' own processes with it (parent-death signal), but not what they started"
}

// start starts a guardian process. g.mu is held, or g is
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
		Files: []*os.File{null, null, null, theirs, g.board.file},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		ours.Close()
		return err
	}
	g.pipe, g.process = ours, process
	g.wake()
	return nil
}

// restartWhenDead waits for the guardian process and starts another when it dies. Where
// that fails it tries again: there may be no room for a process, or a descriptor, now.
func (g *guardian) restartWhenDead() {
	for { // only replace writes g.process
		g.process.Wait()
		waitedFor(g.process.Pid)
		for err := g.replace(); ; err = g.replace() {
			if errors.Is(err, errDismissed) {
				return
			}
			time.Sleep(guardianPause)
			if err == nil {
				break
			}
		}
	}
}

var errDismissed = errors.New("the guardian process was dismissed")

// replace starts another guardian process.
func (g *guardian) replace() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pipe.Close()
	if g.dismissed {
		return errDismissed
	}
	return g.start()
}

// wake has the guardian look at us now and then, as long as programs run.
func (g *guardian) wake() {
	g.board.watched().Store(1)
	g.pipe.Write([]byte{0})
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

// note writes what is known of a run in place of what was known before.
func (g *guardian) note(run int, r guardRecord) {
	if g.dismissed {
		return
	}
	before, known := g.runs[run]
	g.runs[run] = g.put(r.text())
	if known {
		g.clear(before)
	}
	if g.board.watched().Load() == 0 {
		g.wake()
	}
}

// ended tells that nothing of the run is alive.
func (g *guardian) ended(run int) {
	if run == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if slot, known := g.runs[run]; known && !g.dismissed {
		delete(g.runs, run)
		g.clear(slot)
	}
}

// dismiss ends the guardian process and waits for it. Nothing runs any more that
// it would have to end.
func (g *guardian) dismiss() {
	g.mu.Lock()
	g.dismissed = true
	g.process.Kill()
	g.mu.Unlock()
	g.done.Wait()
	g.board.close()
}

// guardianQuiet is how long every look must find nobody. The orphans are another
// process's here, so a look cannot tell, as a sub-reaper's can, that nobody was
// started while it was taken; one that lives is seen by the next.
const guardianQuiet = 50 * time.Millisecond

// endTrees kills until nothing has been alive for a while.
func endTrees(trees []*tree) {
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
