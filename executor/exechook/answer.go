package exechook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

// answer returns what asking a program came to, by how it ended and what it wrote.
// answered says that its output ends with a reply that repeats the event's id.
func (p *Program) answer(q *executor.Question, result *process.Result, answered bool) protocol.Answer {
	if q.Limits.Stderr == 0 {
		result.Stderr, result.StderrCut = nil, 0
	}
	answer := protocol.Answer{Took: result.Took, Signal: result.Signal, Stderr: executor.StderrText(result.Stderr, result.StderrCut)}
	if result.ExitCode >= 0 {
		answer.Exit = &result.ExitCode
	}
	answer.HookInfo = q.Hook.HookInfo()
	ending := readreply.ProcessEnd{Exit: answer.Exit, Signal: result.Signal, Answered: answered}
	if !answered {
		ending.Failure, ending.Program = p.failure(result), p.names()
	}
	answer.ReadResult = readreply.Read(q.Spec, answer.HookInfo, result.Stdout, result.Stderr, ending, q.Event.ID, q.ReplyLimits())
	p.explainExit(&answer)
	if warning := leftWarning(result); warning != "" {
		answer.Warnings = append(answer.Warnings, warning)
	}
	return answer
}

// names returns the names by which an interpreter says where the program is wrong.
func (p *Program) names() []string {
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

// leftWarning returns a warning about processes that a hook left running: they were
// ended, which its author may not expect.
func leftWarning(r *process.Result) string {
	switch {
	case len(r.Left) > 0 && r.OutputHeldOpen:
		return "it left " + r.Left.String() + " running, which kept its output open and was ended; nothing that a hook starts outlives it"
	case len(r.Left) > 0:
		return "it left " + r.Left.String() + " running, which was ended; nothing that a hook starts outlives it"
	case r.OutputHeldOpen:
		return "a process it left behind kept its output open and was ended"
	}
	return ""
}

// failure returns why the program did not come to its own end, nil if it did. A
// context that ended for any other reason than a limit is an abort.
func (p *Program) failure(r *process.Result) *protocol.Failure {
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

// waitText returns how long the program waited for other hooks, if a person would
// notice.
func waitText(r *process.Result) string {
	const noticeable = 50 * time.Millisecond
	if r.Waited < noticeable {
		return ""
	}
	return fmt.Sprintf(" (%s of it waiting for other hooks to end)", r.Waited.Round(time.Millisecond))
}

// ownName returns text with the hook's own file in place of the copy that is executed.
func (p *Program) ownName(text string) string {
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

// explainExit corrects the failure of a program whose interpreter env(1) did not
// find: to a person that is a hook which could not be started.
func (p *Program) explainExit(a *protocol.Answer) {
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

// stderrTail returns how many bytes of stderr a process is to keep. The setting 0
// keeps one byte, because 0 is the default of package process; answer drops it.
func stderrTail(limit int64) int64 { return max(1, limit) }

// graceOf returns the time from TERM to KILL as package process takes it, where 0 is
// the default: the setting 0 means KILL at once.
func graceOf(setting time.Duration) time.Duration {
	if setting == 0 {
		return -1
	}
	return setting
}
