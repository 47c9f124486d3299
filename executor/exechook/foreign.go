package exechook

import (
	"context"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
)

// askForeign runs the program of a hook that was written for another agent on one event:
// with what that agent would have given it, and read as that agent would have.
func (p *Program) askForeign(ctx context.Context, q *executor.Question) protocol.Answer {
	asking := p.config.Selector.Ask(q.Event, p.projectOf(q.Event))
	if asking == nil {
		return protocol.Answer{HookInfo: q.Hook.HookInfo(), ReadResult: protocol.ReadResult{
			Reply:    &protocol.Reply{Action: protocol.Observe},
			Warnings: []string{"its own agent would not ask it about this event: its matcher, or the kind of tool, does not fit"},
		}}
	}
	stdin, err := asking.Stdin()
	if err != nil {
		return protocol.Answer{HookInfo: q.Hook.HookInfo(), ReadResult: protocol.ReadResult{Failure: &protocol.Failure{Kind: protocol.FailSpawn, Detail: err.Error()}}}
	}
	c := p.command(q)
	c.Stdin = [][]byte{stdin}
	c.Argv = withWords(c.Argv, asking.Args())
	c.Env = append(c.Env[:len(c.Env):len(c.Env)], asking.Env()...)
	result := p.runtime.Run(ctx, c)
	if result.Err != nil || result.OutputHeldOpen {
		onTreeGone(q)(result.Gone, nil)
	}
	if q.Transcript != nil {
		q.Transcript(c.Stdin, result.Stdout)
	}
	return p.foreignAnswer(q, asking, &result)
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
