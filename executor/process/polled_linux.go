package process

import (
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// polled is a started [program] served by one goroutine in one poll(2): the
// three pipes, the exit, and a wake-up. It needs pidfd (Linux 5.3).
type polled struct {
	process int
	stdin   [][]byte // not written yet
	fds     [slots]unix.PollFd
	exit    int // pidfd
	exited  bool

	mu    sync.Mutex // guards cause, and the wake slot against close
	cause error
}

// The slots of the poll set. A closed one holds descriptor -1, which poll skips.
const (
	slotIn = iota
	slotOut
	slotErr
	slotExit
	slotWake
	slots
)

// scratch holds read buffers as large as a pipe.
var scratch = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// startPolled starts a program.
func startPolled(c *Command, l *launch) (program, error) {
	p := &polled{stdin: slices.Clone(c.Stdin), exit: -1}
	for i := range p.fds {
		p.fds[i].Fd = -1
	}
	var ours, theirs pipeEnds
	if err := openEnds(&ours, &theirs, c); err != nil {
		return nil, err
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		ours.close()
		theirs.close()
		return nil, err
	}
	p.open(slotIn, ours[0], unix.POLLOUT)
	p.open(slotOut, ours[1], unix.POLLIN)
	p.open(slotErr, ours[2], unix.POLLIN)
	p.open(slotWake, wake, unix.POLLIN)
	size := inputSize(c.Stdin)
	if size > smallestPipe {
		unix.FcntlInt(uintptr(ours[0]), unix.F_SETFL, unix.O_WRONLY|unix.O_NONBLOCK)
	}
	if size > defaultPipe {
		widen(ours[0], size)
	}
	// An ordinary event fits into the pipe, and is there before the program is.
	p.feed()

	pidfd := -1
	l.sys.PidFD = &pidfd
	files := [3]uintptr{uintptr(theirs[0]), uintptr(theirs[1]), uintptr(theirs[2])}
	attr := syscall.ProcAttr{Dir: l.dir, Env: l.env, Files: files[:], Sys: l.sys}
	if c.child.pipes != nil {
		files[0], files[1] = c.child.pipes.in.Fd(), c.child.pipes.out.Fd()
	}
	if c.Merge {
		files[2] = files[1]
	}
	err = ourChildren.start(func() (pid int, err error) {
		p.process, err = syscall.ForkExec(l.path, l.argv, &attr)
		return p.process, err
	})
	theirs.close()
	if err != nil {
		p.close()
		return nil, err
	}
	p.exit = pidfd
	p.open(slotExit, p.exit, unix.POLLIN)
	return p, nil
}

// pipeEnds are one end of stdin, stdout and stderr each, or -1.
type pipeEnds [3]int

func (e *pipeEnds) close() {
	for _, fd := range e {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func openEnds(ours, theirs *pipeEnds, c *Command) error {
	*ours, *theirs = pipeEnds{-1, -1, -1}, pipeEnds{-1, -1, -1}
	for i := range ours {
		if i == 2 && c.Merge || i < 2 && c.child.pipes != nil {
			continue
		}
		var pair [2]int
		if err := unix.Pipe2(pair[:], unix.O_CLOEXEC); err != nil {
			ours.close()
			theirs.close()
			return err
		}
		ours[i], theirs[i] = pair[0], pair[1]
		if i == 0 {
			ours[i], theirs[i] = pair[1], pair[0]
		}
	}
	return nil
}

func (p *polled) open(slot, fd int, events int16) {
	p.fds[slot] = unix.PollFd{Fd: int32(fd), Events: events}
}

func (p *polled) shut(slot int) {
	if fd := p.fds[slot].Fd; fd >= 0 {
		unix.Close(int(fd))
		p.fds[slot] = unix.PollFd{Fd: -1}
	}
}

func (p *polled) closed(slot int) bool { return p.fds[slot].Fd < 0 }

// ready reports whether the last poll had something for the slot.
func (p *polled) ready(slot int) bool { return p.fds[slot].Revents != 0 }

func (p *polled) pid() int { return p.process }

func (p *polled) interrupt(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != nil || p.closed(slotWake) {
		return
	}
	p.cause = cause
	one := [8]byte{1}
	unix.Write(int(p.fds[slotWake].Fd), one[:])
}

func (p *polled) interruption() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}

// poll waits for at most d; a negative d has no end.
func (p *polled) poll(d time.Duration) {
	var limit *unix.Timespec
	if d >= 0 {
		t := unix.NsecToTimespec(int64(d))
		limit = &t
	}
	n, err := unix.Ppoll(p.fds[:], limit, nil)
	if err != nil || n == 0 {
		for i := range p.fds {
			p.fds[i].Revents = 0
		}
	}
	if err != nil && err != unix.EINTR {
		p.pollEach()
	}
}

// pollEach looks at one descriptor after the other. The kernel refuses to look
// at more at once than this process may open, and somebody may have lowered that.
func (p *polled) pollEach() {
	time.Sleep(time.Millisecond)
	for i := range p.fds {
		if n, err := unix.Ppoll(p.fds[i:i+1], &unix.Timespec{}, nil); err != nil || n == 0 {
			p.fds[i].Revents = 0
		}
	}
}

// pollOne waits until one descriptor is ready, for at most d.
func pollOne(fd int, events int16, d time.Duration) {
	limit := unix.NsecToTimespec(int64(d))
	unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: events}}, &limit, nil)
}

func (p *polled) exchange(c *Command, stdout, stderr *output) (held bool, cause error) {
	buffer := scratch.Get().(*[64 << 10]byte)
	defer scratch.Put(buffer)
	wait := time.Duration(-1)
	var drained time.Time
	for {
		p.poll(wait)
		p.transfer(buffer[:], stdout, stderr)
		if stdout.over {
			return false, &OutputError{Limit: c.StdoutLimit}
		}
		if p.ready(slotExit) {
			p.noteExit()
			drained = time.Now().Add(c.Drain)
		}
		if p.exited && p.closed(slotOut) && p.closed(slotErr) {
			return false, nil
		}
		if p.ready(slotWake) {
			return p.drainInterrupted(buffer[:], c, stdout, stderr)
		}
		if p.exited {
			if wait = time.Until(drained); wait <= 0 {
				return true, nil
			}
		}
	}
}

// noteExit is called once, when the program has exited.
func (p *polled) noteExit() {
	p.exited = true
	p.fds[slotExit] = unix.PollFd{Fd: -1}
	p.shut(slotIn)
}

// drainInterrupted takes what the program has written by the time it is interrupted: a
// refusal counts however the run ended. The number of reads is bounded, because
// a flood never runs dry.
func (p *polled) drainInterrupted(buffer []byte, c *Command, stdout, stderr *output) (bool, error) {
	for range 64 {
		p.poll(0)
		if !p.ready(slotOut) && !p.ready(slotErr) {
			break
		}
		p.transfer(buffer, stdout, stderr)
	}
	switch {
	case stdout.over:
		return false, &OutputError{Limit: c.StdoutLimit}
	case p.exited: // it ended by itself; only its output was still open
		return !p.closed(slotOut) || !p.closed(slotErr), nil
	}
	return false, p.interruption()
}

// exchange moves bytes in every direction that the last poll found ready.
func (p *polled) transfer(buffer []byte, stdout, stderr *output) {
	if p.ready(slotIn) {
		p.feed()
	}
	if p.ready(slotOut) {
		p.read(slotOut, buffer, stdout)
	}
	if p.ready(slotErr) {
		p.read(slotErr, buffer, stderr)
	}
}

// feed writes as much of stdin as the pipe takes and closes it after the last
// byte. A program that does not read its input is within its rights.
func (p *polled) feed() {
	for len(p.stdin) > 0 {
		n, err := unix.Writev(int(p.fds[slotIn].Fd), p.stdin)
		p.stdin = rest(p.stdin, n)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.EINTR):
		case err != nil:
			p.stdin = nil
		}
	}
	p.shut(slotIn)
}

const (
	smallestPipe = 4 << 10 // what every pipe takes without waiting
	defaultPipe  = 64 << 10
	widestPipe   = 1 << 20 // what a system lets an ordinary user have
)

// widen enlarges a pipe so that a large input needs fewer turns. Where that is
// refused the pipe stays as it is.
func widen(fd, need int) {
	unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, min(need, widestPipe))
}

// read reads once; o is nil when nobody wants the bytes any more.
func (p *polled) read(slot int, buffer []byte, o *output) {
	n, err := unix.Read(int(p.fds[slot].Fd), buffer)
	switch {
	case n > 0:
		if o != nil {
			o.add(buffer[:n])
		}
	case err == unix.EINTR || err == unix.EAGAIN:
	default:
		p.shut(slot)
	}
}

func (p *polled) discardOutput(d time.Duration) bool {
	buffer := scratch.Get().(*[64 << 10]byte)
	defer scratch.Put(buffer)
	p.shutWake()
	p.shut(slotIn)
	for end := time.Now().Add(d); !p.exited; {
		left := time.Until(end)
		if left < 0 {
			return false
		}
		p.poll(left)
		for _, slot := range [...]int{slotOut, slotErr} {
			if p.ready(slot) {
				p.read(slot, buffer[:], nil)
			}
		}
		if p.ready(slotExit) {
			p.noteExit()
		}
	}
	return true
}

func (p *polled) shutWake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut(slotWake)
}

func (p *polled) reap() (int, string) {
	var status syscall.WaitStatus
	defer ourChildren.waitedFor(p.process)
	for {
		_, err := syscall.Wait4(p.process, &status, 0, nil)
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return -1, ""
		}
	}
	return decode(status)
}

// decode returns an exit code, or -1 and the name of the signal.
func decode(status syscall.WaitStatus) (int, string) {
	if status.Signaled() {
		return -1, unix.SignalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

func (p *polled) close() {
	p.shutWake()
	for _, slot := range [...]int{slotIn, slotOut, slotErr} {
		p.shut(slot)
	}
	if p.exit >= 0 {
		unix.Close(p.exit)
		p.exit = -1
	}
}
