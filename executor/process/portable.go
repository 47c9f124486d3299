package process

import (
	"os"
	"sync"
	"time"
)

// portable is a [program] on any platform: a goroutine for each pipe and one
// that waits. Linux with pidfd has a leaner one.
type portable struct {
	process *os.Process
	pipes   ownPipes

	exited chan struct{} // closed when the program was waited for
	state  *os.ProcessState

	interrupted chan struct{}
	interrupts  sync.Once
	cause       error

	mu       sync.Mutex // guards the outputs between the readers and converse
	kept     bool       // the result is taken, later output is dropped
	overflow chan struct{}
	readers  sync.WaitGroup
	drained  chan struct{} // closed when both outputs are closed
}

// ownPipes are our ends of a program's pipes. Each is nil where the program has none
// of the run's own.
type ownPipes struct{ stdin, stdout, stderr *os.File }

func startPortable(c *Command, l *launch) (program, error) {
	pipes, err := openPipes(c)
	if err != nil {
		return nil, err
	}
	child := []*os.File{pipes[0], pipes[3], pipes[5]}
	if c.child.pipes != nil {
		child[0], child[1] = c.child.pipes.in, c.child.pipes.out
	}
	if c.Merge {
		child[2] = pipes[3]
	}
	process, err := startProcess(l.path, l.argv, &os.ProcAttr{Dir: l.dir, Env: l.env, Files: child, Sys: l.sys})
	for _, f := range []*os.File{pipes[0], pipes[3], pipes[5]} {
		closeFile(f)
	}
	if err != nil {
		for _, f := range []*os.File{pipes[1], pipes[2], pipes[4]} {
			closeFile(f)
		}
		return nil, err
	}
	p := &portable{
		process: process, pipes: ownPipes{stdin: pipes[1], stdout: pipes[2], stderr: pipes[4]},
		exited: make(chan struct{}), interrupted: make(chan struct{}),
		overflow: make(chan struct{}), drained: make(chan struct{}),
	}
	return p, nil
}

// openPipes returns read and write end of stdin, stdout and stderr. Merged, the
// last two are nil, and of a [Child] the others.
func openPipes(c *Command) (ends [6]*os.File, err error) {
	for i := 0; i < len(ends); i += 2 {
		if i == 4 && c.Merge || i < 4 && c.child.pipes != nil {
			continue
		}
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			for _, f := range ends {
				closeFile(f)
			}
			return [6]*os.File{}, err
		}
	}
	return ends, nil
}

func closeFile(f *os.File) {
	if f != nil {
		f.Close()
	}
}

func (p *portable) pid() int { return p.process.Pid }

func (p *portable) interrupt(cause error) {
	p.interrupts.Do(func() {
		p.cause = cause
		close(p.interrupted)
	})
}

func (p *portable) exchange(c *Command, stdout, stderr *output) (held bool, cause error) {
	p.startCopying(c, stdout, stderr)
	defer func() {
		p.mu.Lock()
		p.kept = true
		p.mu.Unlock()
	}()
	select {
	case <-p.exited:
	case <-p.overflow:
		return false, &OutputError{Limit: c.StdoutLimit}
	case <-p.interrupted:
		return false, p.cause
	}
	drain := time.NewTimer(c.Drain)
	defer drain.Stop()
	select {
	case <-p.drained:
	case <-drain.C:
		held = true
	case <-p.interrupted:
		held = true
	}
	select {
	case <-p.overflow:
		return held, &OutputError{Limit: c.StdoutLimit}
	default:
		return held, nil
	}
}

// serve starts the goroutines that move bytes and wait. They end when the pipes
// and the program do, which the run's end sees to.
func (p *portable) startCopying(c *Command, stdout, stderr *output) {
	go func() {
		p.state, _ = p.process.Wait()
		waitedFor(p.process.Pid)
		close(p.exited)
	}()
	var reading sync.WaitGroup
	if c.child.pipes == nil {
		p.readers.Go(func() {
			for _, piece := range c.Stdin {
				p.pipes.stdin.Write(piece) // a program need not read: an error here is not one
			}
			p.pipes.stdin.Close()
		})
		reading.Go(func() { p.read(p.pipes.stdout, stdout, p.overflow) })
	}
	if p.pipes.stderr != nil {
		reading.Go(func() { p.read(p.pipes.stderr, stderr, nil) })
	}
	p.readers.Go(func() {
		reading.Wait()
		close(p.drained)
	})
}

// read collects one output until it is closed.
func (p *portable) read(f *os.File, o *output, overflow chan struct{}) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := f.Read(buffer)
		p.mu.Lock()
		if !p.kept {
			before := o.over
			o.add(buffer[:n])
			if o.over && !before {
				close(overflow)
			}
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *portable) discardOutput(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

func (p *portable) reap() (int, string) {
	<-p.exited
	return exitStatus(p.state)
}

func (p *portable) close() {
	closeFile(p.pipes.stdin)
	closeFile(p.pipes.stdout)
	closeFile(p.pipes.stderr)
	p.readers.Wait()
}
