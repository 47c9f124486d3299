package executor

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Bounds of a [Pool] that no setting moves.
const (
	// poolMost is how many processes are kept for later, all hooks together.
	poolMost = 64
	// poolKept is how many of these a layer leaves to the layer above it.
	poolKept = 8
	// seatsMost is how many sessions have a process of one resident hook.
	seatsMost = 8
)

// Pool keeps processes that were started before their event: the next ones of
// standby hooks, and those of resident hooks. One Pool serves a whole program.
//
// What it keeps belongs to hooks that rule ([Pool.Rule]), each known by what its
// processes were started with: content, command, folder, environment, limits. A
// hook of which one of these is different is another hook, and a process is only
// ever used for the one it was started for. A Pool without rulers keeps nothing.
type Pool struct {
	runtime *process.Runtime
	base    context.Context
	cancel  context.CancelCauseFunc
	work    work

	mu     sync.Mutex
	lines  map[identity]*line
	kept   map[*kept]struct{}
	closed bool
}

// NewPool returns an empty pool of processes that rt runs.
func NewPool(rt *process.Runtime) *Pool {
	p := &Pool{runtime: rt, lines: map[identity]*line{}, kept: map[*kept]struct{}{}}
	p.base, p.cancel = context.WithCancelCause(context.Background())
	return p
}

// StandingConfig is how a hook's processes are started before their event.
type StandingConfig struct {
	Process ProcessConfig // as for a process that is started with its event
	Layer   protocol.Layer
	Name    string
	Hash    string // of the bundle
	Mode    schema.RunMode
	Pool    int           // waiting processes of a standby hook
	Idle    time.Duration // after which unused ones end
	Grace   time.Duration // TERM to KILL
	Stderr  int64         // bytes kept of it

	// Files are those that a process is made of when it starts, beside its program:
	// the interpreter, helpers, and what the command line names. A process that was
	// started before one of them changed is not used.
	Files []string
}

func (c *StandingConfig) origin() protocol.Origin { return protocol.OriginOf(c.Layer, c.Name) }

// Asker returns the way to ask a hook that is to run in standby or resident mode.
func (p *Pool) Asker(c StandingConfig) Asker {
	s := standing{
		pool: p, config: c, id: sha256.Sum256(fmt.Appendf(nil, "%#v", c)),
		files: append([]string{c.Process.Path}, c.Files...),
	}
	grace := c.Grace
	if grace == 0 {
		grace = -1 // the setting 0 means KILL at once, not the default
	}
	s.plain = NewProcess(p.runtime, c.Process)
	s.command = process.Command{
		Path: c.Process.Path, Argv: s.plain.argv, Dir: c.Process.Dir,
		Env:        append(slices.Clip(c.Process.Env), hookenv.VarMode+"="+string(c.Mode)),
		Key:        s.plain.key(hookKey{c.Layer, c.Name}),
		StderrTail: stderrTail(c.Stderr), Grace: grace,
	}
	if c.Mode == schema.Resident {
		return &resident{s}
	}
	return &standby{s}
}

// identity names what a process was started with.
type identity [sha256.Size]byte

// standing is what both modes have in common: how the hook's processes are
// started.
type standing struct {
	pool    *Pool
	config  StandingConfig
	id      identity
	plain   *Process
	command process.Command
	files   []string // that its processes are made of
}

func (s *standing) of() *standing { return s }

// line is one ruling hook and its processes.
type line struct {
	*standing
	rulers   int
	spares   []*kept // of a standby hook: waiting, the oldest first
	starting int
	seats    map[string]*seat // of a resident hook, by session
	used     time.Time
	failed   int       // processes in a row that were no use
	rest     time.Time // none is started before
	timer    *time.Timer
	armed    bool // the timer comes

	started, uses, restarts int64
}

// kept is one process that was started before its event. Whoever talks with it
// holds talk; it is buried behind that.
type kept struct {
	child  *process.Child
	files  fileMark
	talk   sync.Mutex
	line   *line // nil: it is for one event only
	seat   *seat // of a resident one
	ending bool  // we are ending it, or it has served: its end is no surprise
}

// Rule makes the hooks of a set rule in place of those of an earlier one; either
// may be nil. Processes of hooks that rule no more end, when what they are asked
// just now is answered; those that both sets have stay.
func (p *Pool) Rule(before, now *Set) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range standingOf(now) {
		l := p.lines[s.id]
		if l == nil {
			l = &line{standing: s, seats: map[string]*seat{}, used: time.Now()}
			p.lines[s.id] = l
		}
		l.rulers++
	}
	for s := range standingOf(before) {
		l := p.lines[s.id]
		if l == nil {
			continue
		}
		if l.rulers--; l.rulers == 0 {
			delete(p.lines, s.id)
		}
	}
	for s := range standingOf(before) {
		if p.lines[s.id] == nil {
			p.dropOthers(s.id)
		}
	}
	for _, l := range p.lines {
		p.tend(l)
	}
}

// standingOf yields the hooks of a set that have processes before their events.
func standingOf(set *Set) func(yield func(*standing) bool) {
	return func(yield func(*standing) bool) {
		if set == nil {
			return
		}
		for _, h := range set.Hooks {
			if s, ok := h.Asker.(interface{ of() *standing }); ok && !yield(s.of()) {
				return
			}
		}
	}
}

// dropOthers ends what is kept for a hook that rules no more. p.mu is held.
func (p *Pool) dropOthers(id identity) {
	for k := range p.kept {
		if k.line != nil && k.line.id == id {
			p.drop(k)
		}
	}
}

// drop ends a process that nobody talks with; one that is being asked ends behind
// its answer. p.mu is held.
func (p *Pool) drop(k *kept) {
	if k.ending {
		return
	}
	if s := k.seat; s != nil {
		if s.users > 0 {
			s.over = true
			return
		}
		s.holds = nil
		delete(k.line.seats, s.session)
	}
	if l := k.line; l != nil {
		l.spares = slices.DeleteFunc(l.spares, func(other *kept) bool { return other == k })
	}
	p.end(k)
}

// end ends a process. A resident one meets the end of its input and has the grace
// time to go; a standby one never had an event and must not act on an empty one.
// p.mu is held.
func (p *Pool) end(k *kept) {
	k.ending = true
	if k.seat == nil {
		k.child.Cancel(process.ErrEnded)
		return
	}
	p.work.Go(func() { p.letGo(k, k.line.config.Grace) })
}

// letGo closes a process's stdin and gives it patience to end.
func (p *Pool) letGo(k *kept, patience time.Duration) {
	k.child.Stdin.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-k.child.Done():
	case <-timer.C:
		k.child.Cancel(process.ErrEnded)
		<-k.child.Done()
	}
}

// start starts a process and watches over it until its tree is gone.
func (p *Pool) start(s *standing, l *line, seat *seat) (*kept, error) {
	files := markOf(s.files)
	child, err := p.runtime.StartIdle(p.base, &s.command)
	if err != nil {
		return nil, err
	}
	k := &kept{child: child, files: files, line: l, seat: seat}
	p.mu.Lock()
	p.kept[k] = struct{}{}
	if l != nil {
		l.started++
	}
	p.mu.Unlock()
	p.work.Go(func() {
		<-child.Done()
		p.died(k)
		child.Reap(&k.talk)
	})
	return k, nil
}

// died takes a process that has ended out of everything.
func (p *Pool) died(k *kept) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.kept, k)
	if k.seat != nil && k.seat.holds == k {
		k.seat.holds = nil
	}
	l := k.line
	if l == nil {
		return
	}
	l.spares = slices.DeleteFunc(l.spares, func(other *kept) bool { return other == k })
	if k.ending {
		return
	}
	k.ending = true
	l.setBack()
	p.tend(l)
}

// setBack makes the next process wait longer, the more of them were no use in a
// row. p.mu is held.
func (l *line) setBack() {
	const first, most = 100 * time.Millisecond, 5 * time.Minute
	l.restarts++
	pause := most
	if l.failed < 12 {
		pause = min(first<<l.failed, most)
	}
	l.failed++
	l.rest = time.Now().Add(pause)
}

// tend starts and ends what a hook should and should not keep now, and comes back
// when that changes. p.mu is held.
func (p *Pool) tend(l *line) {
	if p.closed || p.lines[l.id] != l {
		if l.timer != nil {
			l.timer.Stop()
		}
		return
	}
	now := time.Now()
	var next time.Duration
	if l.config.Mode == schema.Standby {
		next = p.tendSpares(l, now)
	} else {
		next = p.tendSeats(l, now)
	}
	if l.armed = next > 0; !l.armed {
		return
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(next, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.tend(l)
		})
		return
	}
	l.timer.Reset(next)
}

// makeRoom makes sure that one more process may be kept for a hook of a layer; the
// one that was not used for longest goes. A process of a higher layer never goes
// for one of a lower layer, and each layer leaves some room to those above it.
// p.mu is held.
func (p *Pool) makeRoom(origin protocol.Origin) bool {
	starting := 0
	for _, l := range p.lines {
		starting += l.starting
	}
	if len(p.kept)+starting < poolMost-poolKept*(protocol.Managed.Rank()-origin.Layer.Rank()) {
		return true
	}
	var oldest *kept
	for k := range p.kept {
		busy := k.ending || k.line == nil || k.line.config.origin().Compare(origin) > 0 || k.seat != nil && k.seat.users > 0
		if !busy && (oldest == nil || k.lastUse().Before(oldest.lastUse())) {
			oldest = k
		}
	}
	if oldest == nil {
		return false
	}
	p.drop(oldest)
	return true
}

func (k *kept) lastUse() time.Time {
	if k.seat != nil {
		return k.seat.used
	}
	return k.line.used
}

// Close ends everything that is kept and waits until it is gone. The pool keeps
// nothing afterwards; hooks are asked all the same.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for _, l := range p.lines {
		if l.timer != nil {
			l.timer.Stop()
		}
	}
	for k := range p.kept {
		p.drop(k)
	}
	p.mu.Unlock()
	<-p.work.Idle()
	p.cancel(errors.New("hookd is shutting down"))
	return nil
}
