package process

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// guardianProcess is the guardian process: what it was told of the programs that run.
type guardianProcess struct {
	hookd        int // the process that the programs are of
	trees        map[int]*tree
	cgroup       string
	stoppedLooks int // looks in a row that found hookd stopped
}

// runGuardian reads what runs until the pipe ends, and then ends all of that.
func runGuardian() {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGQUIT)
	syscall.CloseOnExec(helperPipe)
	w := guardianProcess{hookd: os.Getppid(), trees: make(map[int]*tree)}
	w.listen(os.NewFile(helperPipe, "hookd"))
	if w.cgroup != "" {
		killCgroup(w.cgroup, closeTimeout)
	}
	endTrees(w.trees)
	os.Exit(0)
}

// While programs run, hookd is looked at now and then. A program may stop it again
// and again, faster than it wakes up; whatever runs is ended then.
const (
	watchPause       = 100 * time.Millisecond
	mostStoppedLooks = 10
)

// listen reads the Runtime's lines until it is dead.
func (w *guardianProcess) listen(pipe *os.File) {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(pipe); in.Scan(); {
			lines <- in.Text()
		}
	}()
	for {
		var look <-chan time.Time
		if len(w.trees) > 0 {
			look = time.After(watchPause)
		}
		select {
		case line, alive := <-lines:
			if !alive {
				return
			}
			w.note(line)
		case <-look:
			w.look()
		}
	}
}

func (w *guardianProcess) note(line string) {
	var run int
	if dir, ok := strings.CutPrefix(line, guardCgroup); ok {
		w.cgroup = dir
	} else if rest, ok := strings.CutPrefix(line, guardBegan); ok {
		t := &tree{known: make(map[int]uint64)}
		fmt.Sscanf(rest, "%d %d %d", &run, &t.root, &t.start)
		if fields := strings.SplitN(rest, " ", 4); len(fields) == 4 {
			t.envTag = fields[3]
		}
		w.trees[run] = t
	} else if n, _ := fmt.Sscanf(line, guardEnded+"%d", &run); n == 1 {
		delete(w.trees, run)
	}
}

// look ends what runs if hookd is kept stopped, unless a person has sent it to the
// background of a terminal.
func (w *guardianProcess) look() {
	e, ok := readEntry(w.hookd)
	if !ok || !e.stopped || e.background {
		w.stoppedLooks = 0
		return
	}
	if w.stoppedLooks++; w.stoppedLooks < mostStoppedLooks {
		return
	}
	w.stoppedLooks = 0
	if w.cgroup != "" {
		killMembers(w.cgroup)
	}
	endTrees(w.trees)
	syscall.Kill(w.hookd, syscall.SIGCONT)
}
