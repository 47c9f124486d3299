package exechook

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
)

// Config is how a hook's program is started. It holds nothing of an event, so that
// it is made once per snapshot.
type Config struct {
	Path     string                 // absolute path of what is executed: the private copy, the file itself, or its interpreter
	Script   string                 // the hook's program, if Path is its interpreter; else empty
	Args     []string               // argv[1] and on; argv[0] is Path
	Dir      string                 // working directory
	HookFile string                 // the hook's own file, which messages name; empty: Path
	Env      []string               // as [hookenv.ForHook] returns it
	Selector *foreignhooks.Selector // how a hook that speaks another agent's dialect is asked; nil for hookd's own
	Key      string                 // names the hook across its runs, of which one waits until another has ended; empty: its folder, layer and name
}

// Program asks a hook by running its program once per event.
type Program struct {
	runtime *process.Runtime
	config  Config
	argv    []string
	local   atomic.Bool // see lookWhereFilesAre
}

// New returns the [executor.Asker] of a hook that is a program.
func New(rt *process.Runtime, c Config) *Program {
	if c.HookFile == "" {
		c.HookFile = c.Path
	}
	return &Program{runtime: rt, config: c, argv: append([]string{c.Path}, c.Args...)}
}

// Info says how the hook is asked.
func (p *Program) Info() executor.AskerInfo { return executor.AskerInfo{Prompt: p.local.Load()} }

// Ask runs the program on one event. It returns when it has the answer; what is left of
// the program is still being ended then.
func (p *Program) Ask(ctx context.Context, q *executor.Question) protocol.Answer {
	p.lookWhereFilesAre()
	if p.config.Selector != nil {
		return p.askForeign(ctx, q)
	}
	result := p.runtime.Run(ctx, p.command(q))
	if result.Err != nil || result.OutputHeldOpen {
		onTreeGone(q)(result.Gone, nil)
	}
	transcribe(q, result.Stdout)
	return p.answer(q, &result, false)
}

// onTreeGone returns q.OnTreeGone, or a function that does nothing.
func onTreeGone(q *executor.Question) func(gone <-chan struct{}, ending func() *worker.Ending) {
	if q.OnTreeGone != nil {
		return q.OnTreeGone
	}
	return func(<-chan struct{}, func() *worker.Ending) {}
}

func transcribe(q *executor.Question, stdout []byte) {
	if q.Transcript != nil {
		q.Transcript(q.Payload, stdout)
	}
}

// command builds what is run for one event. The event itself goes to stdin only:
// nothing that grows with it is in the arguments or the environment.
func (p *Program) command(q *executor.Question) *process.Command {
	traceparent := hookenv.VarTraceparent + "=" + hookenv.NewTraceparent()
	base := p.config.Env
	env := append(base[:len(base):len(base)], hookenv.VarEvent+"="+string(q.Event.Event), traceparent)
	if id := q.Event.Session.ID; fitsEnvironment(id) {
		env = append(env, hookenv.VarSessionID+"="+id)
	}
	return &process.Command{
		Path: p.config.Path, Argv: p.argv, Dir: p.config.Dir, Env: env, EnvTag: traceparent,
		Key:         p.key(q.Hook.Layer, q.Hook.Name),
		Stdin:       q.Payload,
		StdoutLimit: q.Limits.Reply,
		StderrTail:  stderrTail(q.Limits.Stderr),
		Grace:       graceOf(q.Grace),
	}
}

// key names the hook across its runs. Command hooks may share one file, so it is not
// the file.
func (p *Program) key(layer protocol.Layer, name string) string {
	if p.config.Key != "" {
		return p.config.Key
	}
	return p.config.Dir + "\x00" + string(layer) + "/" + name
}

// longestSessionID is far more than any id in use and far less than what an
// environment holds.
const longestSessionID = 256

func fitsEnvironment(id string) bool {
	return id != "" && len(id) <= longestSessionID && !strings.ContainsRune(id, 0)
}
