package process

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// run is one program from its start until its tree is gone.
type run struct {
	runtime   *Runtime
	command   Command
	container container
	program   program
	gone      chan struct{}
	guard     int       // the run's number with the guardian
	limit     time.Time // when the answer is due; zero without a limit
}

// Run runs one program and returns when its answer stands. It does not wait for
// processes that the program left behind; those are ended, and Result.Gone
// tells when they are.
func (rt *Runtime) Run(ctx context.Context, c *Command) Result {
	began := time.Now()
	if err := rt.enter(ctx, c.Key); err != nil {
		return notRun(err, began)
	}
	waited := time.Since(began)
	r, err := rt.start(ctx, c)
	if err != nil {
		rt.leave()
		return notRun(err, began)
	}
	result := r.answer(ctx)
	result.Waited = waited
	result.Took = time.Since(began)
	return result
}

func notRun(err error, began time.Time) Result {
	took := time.Since(began)
	return Result{ExitCode: -1, Err: err, Waited: took, Took: took, Gone: closedChannel}
}

// Another process may hold a just-written file open for writing for a moment:
// every fork copies all descriptors until its exec closes them.
const (
	busyFirst = time.Millisecond
	busyTotal = 200 * time.Millisecond
)

// start takes a container and starts the program in it.
func (rt *Runtime) start(ctx context.Context, c *Command) (*run, error) {
	if err := rt.beginStart(); err != nil {
		return nil, err
	}
	defer rt.endStart()
	r := &run{runtime: rt, command: c.withDefaults()}
	r.limit, _ = ctx.Deadline()
	if err := rt.mechanism.choose(&rt.options); err != nil {
		return nil, explain(&r.command, &containerError{err})
	}
	for pause, total := busyFirst, time.Duration(0); ; pause *= 2 {
		err := r.launch()
		if err == nil {
			return r, nil
		}
		if !errors.Is(err, syscall.ETXTBSY) || total >= busyTotal {
			return nil, explain(&r.command, err)
		}
		select {
		case <-time.After(pause):
			total += pause
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// launch makes one attempt to start the program.
func (r *run) launch() error {
	in, err := r.runtime.mechanism.containment.newContainer(&r.command)
	if err != nil {
		return &containerError{err}
	}
	l := launch{path: r.command.Path, argv: r.command.Argv, dir: r.command.Dir, env: r.command.Env, sys: &syscall.SysProcAttr{}}
	in.attach(&l)
	r.guard = r.runtime.mechanism.guardian.begins(in)
	r.runtime.mechanism.supervisor.began(r.limit) // before: the program may be quicker than we are
	p, err := r.runtime.startProgram(&r.command, &l)
	if err != nil {
		r.runtime.mechanism.supervisor.ended()
		r.runtime.mechanism.guardian.ended(r.guard)
		in.free()
		return err
	}
	r.container, r.program = in, p
	in.started(p.pid())
	r.runtime.mechanism.guardian.began(r.guard, in)
	r.runtime.register(r)
	return nil
}

// answer talks with the program until the answer stands, and sees to it that
// nothing of the program outlives the run.
func (r *run) answer(ctx context.Context) Result {
	stop := context.AfterFunc(ctx, func() { r.program.interrupt(context.Cause(ctx)) })
	stdout := output{limit: r.command.StdoutLimit, stream: r.command.Stream}
	if r.command.StdoutTail > 0 {
		stdout.limit, stdout.tail = r.command.StdoutTail, true
	}
	stderr := output{limit: r.command.StderrTail, tail: true, stream: r.command.StderrStream}
	if r.command.child.onStderr != nil {
		stderr.stream = r.command.child.onStderr
	}

	held, cause := r.program.exchange(&r.command, &stdout, &stderr)
	stop()
	if cause == nil && r.command.child.awaitOutput != nil {
		held = r.command.child.awaitOutput(r.command.Drain) || held
	}

	result := Result{ExitCode: -1, Err: cause, OutputHeldOpen: held, Pid: r.program.pid()}
	result.Stdout, result.StdoutCut = stdout.take()
	result.Stderr, result.StderrCut = stderr.take()
	if cause == nil {
		if container, tells := r.container.(leftReporter); tells {
			result.Left = container.left()
		}
		r.container.exited()
		result.ExitCode, result.Signal = r.program.reap()
		if r.container.clean() {
			r.finish()
			r.leave()
			result.Gone = closedChannel
			return result
		}
	}
	r.gone = make(chan struct{})
	result.Gone = r.gone
	r.runtime.endings.add(r.command.Key, r.gone)
	go r.end(cause)
	return result
}

// leave gives back the run's slot, if it has one.
func (r *run) leave() {
	if !r.command.child.noSlot {
		r.runtime.leave()
	}
}

// finish gives back everything the run took, except its slot. Its tree is gone.
func (r *run) finish() {
	r.runtime.mechanism.guardian.ended(r.guard)
	r.program.close()
	r.container.free()
	r.runtime.unregister(r)
}
