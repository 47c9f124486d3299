package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
)

// ProcessConfig is how a hook's program is started. It holds nothing of an
// event, so it is made once per snapshot.
type ProcessConfig struct {
	Path     string   // absolute path of what is executed: the private copy, the file itself, or its interpreter
	Script   string   // the hook's program, if Path is its interpreter; else empty
	Args     []string // argv[1] and on; argv[0] is Path
	Dir      string   // working directory
	HookFile string   // the hook's own file, which messages name; empty: Path
	Env      []string // from HookEnv
	Key      string   // names the hook across its runs, of which one waits until another has ended; empty: its folder, layer and name
}

// Process asks a hook by running its program once per event.
type Process struct {
	runtime *process.Runtime
	config  ProcessConfig
	argv    []string
	nearby  nearby
}

// NewProcess returns the [Asker] of a hook that is a program.
func NewProcess(rt *process.Runtime, c ProcessConfig) *Process {
	if c.HookFile == "" {
		c.HookFile = c.Path
	}
	return &Process{runtime: rt, config: c, argv: append([]string{c.Path}, c.Args...)}
}

// Ask runs the program on one event: build, run, read. It returns when the
// answer stands; ending what is left of the program goes on behind it.
func (p *Process) Ask(ctx context.Context, q *Question) protocol.Answer {
	p.lookNearby()
	result := p.runtime.Run(ctx, p.command(q))
	if result.Err != nil || result.Held {
		leavesBehind(ctx, result.Gone, nil)
	}
	transcribe(ctx, q.Payload, result.Stdout)
	return p.read(q, &result, false)
}

// read makes an answer of how the program ended and what it wrote. answered says
// that it ended its turn by repeating the event's id.
func (p *Process) read(q *Question, result *process.Result, answered bool) protocol.Answer {
	if q.Limits.Stderr == 0 {
		result.Stderr, result.StderrCut = nil, 0
	}
	answer := protocol.Answer{Took: result.Took, Signal: result.Signal, Stderr: stderrText(result)}
	if result.ExitCode >= 0 {
		answer.Exit = &result.ExitCode
	}
	answer.Voter = voterOf(q.Hook)
	ending := protocol.Ending{Exit: answer.Exit, Signal: result.Signal, Answered: answered}
	if !answered {
		ending.Failure, ending.Program = p.failure(result), p.names()
	}
	answer.Reading = protocol.ReadReply(q.Spec, answer.Voter, result.Stdout, result.Stderr, ending, q.Event.ID, replyLimits(q))
	p.explainExit(&answer)
	if warning := leftWarning(result); warning != "" {
		answer.Warnings = append(answer.Warnings, warning)
	}
	return answer
}

// names are the names by which an interpreter tells where the program is wrong.
func (p *Process) names() []string {
	names := []string{p.config.Path}
	if p.config.Script != "" {
		names = append(names, p.config.Script)
	}
	for _, word := range p.config.Args {
		if word == "-c" || strings.ContainsAny(word, "/.") && !strings.ContainsAny(word, " \n") {
			names = append(names, word)
		}
	}
	return names
}

// leftWarning tells of processes that a hook left running: they were ended, which
// its author may not expect.
func leftWarning(r *process.Result) string {
	switch {
	case len(r.Left) > 0 && r.Held:
		return "it left " + r.Left.String() + " running, which kept its output open and was ended; nothing that a hook starts outlives it"
	case len(r.Left) > 0:
		return "it left " + r.Left.String() + " running, which was ended; nothing that a hook starts outlives it"
	case r.Held:
		return "a process it left behind kept its output open and was ended"
	}
	return ""
}

// command builds what is run for one event. The event itself goes to stdin only;
// nothing that grows with it is in the arguments or the environment.
func (p *Process) command(q *Question) *process.Command {
	traceparent := hookenv.VarTraceparent + "=" + hookenv.NewTraceparent()
	base := p.config.Env
	env := append(base[:len(base):len(base)], hookenv.VarEvent+"="+string(q.Event.Event), traceparent)
	if id := q.Event.Session.ID; fitsEnvironment(id) {
		env = append(env, hookenv.VarSessionID+"="+id)
	}
	grace := q.Grace
	if grace == 0 {
		grace = -1 // the setting 0 means KILL at once, not the default
	}
	return &process.Command{
		Path: p.config.Path, Argv: p.argv, Dir: p.config.Dir, Env: env, EnvTag: traceparent,
		Key:         p.key(keyOf(q.Hook)),
		Stdin:       q.Payload,
		StdoutLimit: q.Limits.Reply,
		StderrTail:  stderrTail(q.Limits.Stderr),
		Grace:       grace,
	}
}

// stderrTail is how much of stderr a process is to keep. It keeps one byte at
// least: 0 is its default, and what the setting 0 does not want is dropped later.
func stderrTail(limit int64) int64 { return max(1, limit) }

// key names the hook across its runs: command hooks may share one file.
func (p *Process) key(hook hookKey) string {
	if p.config.Key != "" {
		return p.config.Key
	}
	return p.config.Dir + "\x00" + hook.String()
}

// longestSessionID is far more than any id in use and far less than what an
// environment holds.
const longestSessionID = 256

func fitsEnvironment(id string) bool {
	return id != "" && len(id) <= longestSessionID && !strings.ContainsRune(id, 0)
}

func replyLimits(q *Question) protocol.ReplyLimits {
	return protocol.ReplyLimits{
		Size: q.Limits.Reply, Depth: q.Limits.Depth,
		State: noneIfZero(q.Limits.State), Metadata: noneIfZero(q.Limits.Metadata),
	}
}

// failure says why the program did not come to its own end, nil if it did. A
// context that ended for any other reason than a limit is an abort.
func (p *Process) failure(r *process.Result) *protocol.Failure {
	if r.Err == nil {
		return nil
	}
	var start *process.StartError
	var output *process.OutputError
	var limit *protocol.Failure
	switch {
	case errors.As(r.Err, &start):
		kind := protocol.FailSpawn
		if start.Reason == process.FileMissing && p.config.Script == "" {
			kind = protocol.FailGone
		}
		return &protocol.Failure{Kind: kind, Detail: p.ownName(start.Detail), Remedy: p.ownName(start.Remedy)}
	case errors.As(r.Err, &output):
		return &protocol.Failure{Kind: protocol.FailOutput, Detail: "stdout: " + output.Error(), Remedy: "write less, or raise hooks.limits.reply"}
	case errors.As(r.Err, &limit):
		// The executor ends a context with the failure that its end is.
		f := *limit
		f.Detail += waitText(r)
		return &f
	}
	return &protocol.Failure{Kind: protocol.FailAborted, Detail: r.Err.Error()}
}

// waitText tells of a wait that was not the hook's own doing.
func waitText(r *process.Result) string {
	const noticeable = 50 * time.Millisecond
	if r.Waited < noticeable {
		return ""
	}
	return fmt.Sprintf(" (%s of it waiting for other hooks to end)", r.Waited.Round(time.Millisecond))
}

// ownName puts the hook's own file in place of the copy that is executed.
func (p *Process) ownName(text string) string {
	if p.config.Script != "" {
		return strings.ReplaceAll(text, p.config.Script, p.config.HookFile)
	}
	return strings.ReplaceAll(text, p.config.Path, p.config.HookFile)
}

// Exit codes by which env and shells say that a program was not found, or could
// not be executed.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// explainExit finds out whether a program failed because env(1) did not find its
// interpreter: to the person that is a hook which could not be started.
func (p *Process) explainExit(a *protocol.Answer) {
	if a.Failure == nil || a.Failure.Kind != protocol.FailExit || a.Exit == nil {
		return
	}
	if p.config.Script != "" {
		if _, err := os.Lstat(p.config.Script); errors.Is(err, fs.ErrNotExist) {
			a.Failure = &protocol.Failure{Kind: protocol.FailGone, Detail: "no such file: " + p.config.HookFile}
		}
		return
	}
	if *a.Exit != exitNotFound && *a.Exit != exitNotExecutable {
		return
	}
	name, ok := process.EnvInterpreter(p.config.Path)
	if !ok {
		return
	}
	path := hookenv.PathOf(p.config.Env)
	if process.OnPath(name, path) {
		return
	}
	a.Failure = &protocol.Failure{
		Kind:   protocol.FailSpawn,
		Detail: fmt.Sprintf("interpreter %s of %s not found on PATH %s", name, p.config.HookFile, path),
		Remedy: "install it, or add its folder to hooks.path",
	}
}

// stderrText is the end of stderr as text, marked if its beginning is missing.
func stderrText(r *process.Result) string {
	text := strings.ToValidUTF8(string(r.Stderr), "\uFFFD")
	if r.StderrCut > 0 {
		text = fmt.Sprintf("[%d bytes cut]\n", r.StderrCut) + text
	}
	return text
}
