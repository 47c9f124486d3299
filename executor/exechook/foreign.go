package exechook

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
)

// mostFiles of one call are what a hook is asked about that knows calls on one file only.
const mostFiles = 50

// askForeign asks a hook that was written for another agent about an event. About a call
// on several files, which that agent does not have, it is asked once for each, until it
// refuses: a hook that looks at one file must not miss the others.
func (p *Program) askForeign(ctx context.Context, q *executor.Question) protocol.Answer {
	askings := p.config.Selector.AskEach(q.Event, p.projectOf(q.Event))
	switch n := len(askings); {
	case n == 0:
		return protocol.Answer{HookInfo: q.Hook.HookInfo(), ReadResult: protocol.ReadResult{
			Reply:    &protocol.Reply{Action: protocol.Observe},
			Warnings: []string{"its own agent would not ask it about this event: its matcher, or the kind of tool, does not fit"},
		}}
	case n > mostFiles:
		return protocol.Answer{HookInfo: q.Hook.HookInfo(), ReadResult: protocol.ReadResult{Failure: &protocol.Failure{
			Kind: protocol.FailSpawn, Detail: fmt.Sprintf("the call is on %d files, and the hook can be asked about one at a time, %d at most", n, mostFiles),
			Remedy: "write the hook for hookd itself: data.args.paths has all files",
		}}}
	}
	var failed *protocol.Answer
	var context, notice []string
	var last protocol.Answer
	for _, asking := range askings {
		last = p.askOnce(ctx, q, asking)
		switch {
		case len(askings) == 1, ctx.Err() != nil:
			return last
		case last.Reply == nil && failed == nil:
			answer := last
			failed = &answer
		case last.Reply == nil:
		case last.Reply.Action != protocol.Observe && last.Reply.Action != "":
			return last
		default:
			context, notice = said(context, last.Reply.Context), said(notice, last.Reply.Notice)
		}
	}
	if failed != nil { // it counts after a refusal of another file only
		return *failed
	}
	last.Reply.Context, last.Reply.Notice = strings.Join(context, "\n\n"), strings.Join(notice, "\n")
	return last
}

// said adds what a hook said to what it said about other files.
func said(before []string, text string) []string {
	if text == "" || slices.Contains(before, text) {
		return before
	}
	return append(before, text)
}

// askOnce runs the hook's program with what its own agent would have given it, and reads
// it as that agent would have.
func (p *Program) askOnce(ctx context.Context, q *executor.Question, asking *foreignhooks.Asking) protocol.Answer {
	stdin, err := asking.Stdin()
	if err != nil {
		return protocol.Answer{HookInfo: q.Hook.HookInfo(), ReadResult: protocol.ReadResult{Failure: &protocol.Failure{Kind: protocol.FailSpawn, Detail: err.Error()}}}
	}
	c := p.command(q)
	c.Stdin = [][]byte{stdin}
	c.Argv = withWords(c.Argv, asking.Args())
	c.Env = append(c.Env[:len(c.Env):len(c.Env)], asking.Env()...)
	file, left := p.envFile(asking, c)
	result := p.runtime.Run(ctx, c)
	if result.Err != nil || result.OutputHeldOpen {
		onTreeGone(q)(result.Gone, nil)
	}
	if q.Transcript != nil {
		q.Transcript(c.Stdin, result.Stdout)
	}
	answer := p.foreignAnswer(q, asking, &result)
	if left() {
		answer.Warnings = append(answer.Warnings, "it leaves variables for the commands of the session in "+file+", which have no effect here")
	}
	return answer
}

// envFile gives a hook the file in which its agent would have it leave variables for the
// commands of the session, and returns its variable and what reports whether it did. Where
// that agent itself has started hookd, the file is its own, and counts.
func (p *Program) envFile(asking *foreignhooks.Asking, c *process.Command) (name string, left func() bool) {
	never := func() bool { return false }
	name = asking.EnvFile()
	if name == "" || slices.ContainsFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
		return name, never
	}
	file, err := os.CreateTemp("", "hookd-env-*")
	if err != nil {
		return name, never // a hook without it does what it does where its agent has none
	}
	_ = file.Close()
	c.Env = append(c.Env, name+"="+file.Name())
	return name, func() bool {
		info, err := os.Stat(file.Name())
		_ = os.Remove(file.Name())
		return err == nil && info.Size() > 0
	}
}

// withWords adds words to a command line: to the command itself where a shell reads it.
func withWords(argv, words []string) []string {
	argv = slices.Clip(argv)
	if line, is := foreignhooks.ShellText(argv); is && len(words) > 0 {
		return foreignhooks.ShellLine(line + " " + strings.Join(words, " "))
	}
	return append(argv, words...)
}

// projectOf is the folder that another agent would call its project.
func (p *Program) projectOf(ev *protocol.Event) string {
	switch {
	case ev.Project != "":
		return ev.Project
	case ev.Cwd != "":
		return ev.Cwd
	}
	return p.config.Dir
}

func (p *Program) foreignAnswer(q *executor.Question, asking *foreignhooks.Asking, result *process.Result) protocol.Answer {
	stderr := result.Stderr
	if q.Limits.Stderr == 0 {
		result.Stderr, result.StderrCut = nil, 0
	}
	answer := protocol.Answer{Took: result.Took, Signal: result.Signal, Stderr: executor.StderrText(result.Stderr, result.StderrCut)}
	if result.ExitCode >= 0 {
		answer.Exit = &result.ExitCode
	}
	answer.HookInfo = q.Hook.HookInfo()
	end := foreignhooks.Ending{
		Stdout: result.Stdout, Stderr: stderr, Exit: max(0, result.ExitCode), Signal: result.Signal,
		Failure: p.failure(result), Program: p.foreignNames(),
	}
	if end.Failure == nil && result.ExitCode < 0 && result.Signal == "" {
		end.Failure = &protocol.Failure{Kind: protocol.FailExit, Detail: "ended without an exit code"}
	}
	answer.ReadResult = asking.Reply(answer.HookInfo, end)
	p.notStarted(&answer, stderr)
	p.explainExit(&answer)
	if warning := leftWarning(result); warning != "" {
		answer.Warnings = append(answer.Warnings, warning)
	}
	return answer
}

// foreignNames are the names by which an interpreter says where the program is wrong. Of
// a command that a shell reads they are its words.
func (p *Program) foreignNames() []string {
	names := p.names()
	if line, is := foreignhooks.ShellText(p.argv); is {
		for _, word := range strings.Fields(line) {
			if word = strings.Trim(word, `"';&|`); strings.ContainsAny(word, "/.") {
				names = append(names, word)
				if at := strings.LastIndexByte(word, '/'); at >= 0 {
					names = append(names, word[at:]) // a variable stands before it
				}
			}
		}
	}
	return names
}

// notStarted corrects the failure of a command that the shell did not find: its own agent
// takes that for a hook that crashed, and here it is one that could not be asked.
func (p *Program) notStarted(a *protocol.Answer, stderr []byte) {
	if _, is := foreignhooks.ShellText(p.argv); !is || a.Failure == nil || a.Failure.Kind != protocol.FailExit || a.Exit == nil {
		return
	}
	if *a.Exit != exitNotFound && *a.Exit != exitNotExecutable {
		return
	}
	if first, _, _ := strings.Cut(string(stderr), "\n"); strings.HasPrefix(first, "/bin/sh:") || strings.HasPrefix(first, "sh:") {
		a.Failure = &protocol.Failure{
			Kind: protocol.FailSpawn, Detail: "the shell found no program to run: " + strings.ToValidUTF8(first, "\uFFFD"),
			Remedy: "install it, or correct the hook's command",
		}
	}
}
