package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/patterns"
)

// BashPolicy are lists of patterns for shell commands; [patterns.Pattern] says
// how one is written. Deny wins over Allow. Package shellwords says which commands
// of a line the patterns see.
type BashPolicy struct {
	// Deny are commands that never run. Each simple command of a line is compared
	// with them, and so is the line as a whole. A pattern without * and ? also
	// stands for the command with more words: "git push" denies "git push origin".
	// A line of which only its run shows whether it matches ("$X -rf /") is an ask.
	// If hooks changed the command, the one that the model gave is compared, too.
	Deny []string

	// Allow are commands that run without asking; with none listed all do. Every
	// simple command must match one as a whole, with assignments before it; one
	// that writes to a file by redirection only matches a pattern that has a > for
	// each. Any other command line is an ask. The command that is to run must match:
	// a hook that changes one cannot have it run unasked.
	Allow []string

	// Layer is the highest one that wrote a list, "" for none. What the lists make
	// an ask no lower layer grants, and a managed one only a person.
	Layer protocol.Layer

	// Report are paths whose mention is told to the person: files that no command
	// should touch. It refuses nothing.
	Report []string

	// Mentions, if it is not nil, says which such path one of a command's words names
	// by another name, "" if none does.
	Mentions func(words []string) string
}

// Bash keeps a policy for the tool bash. It judges a call's final args, after every
// hook that may change them, and for what never runs the model's own as well: a hook
// that wraps each command does not hide it.
//
// It is a hurdle and not a wall: a shell has more ways to run a program than a
// reader of its text can know (a script in a file, another language's
// interpreter, an encoded text). What must not happen needs a sandbox or rights
// that the user does not have. The error names the patterns that are none.
func Bash(policy BashPolicy) (provider.Provider, error) {
	judge, err := newBashJudge(&policy)
	return provider.Provider{Name: "bash", Hooks: []protocol.GoHook{{
		Name:        "bash",
		Description: "keeps the lists of commands that never run, or run without asking",
		Layer:       policy.Layer,
		Events:      []protocol.EventName{protocol.ToolCallStart},
		Match:       protocol.Match{Tool: []string{"bash"}},
		Can:         protocol.CanBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			var data struct {
				Args struct {
					Command string `json:"command"`
				} `json:"args"`
			}
			if err := json.Unmarshal(ev.Data, &data); err != nil {
				return protocol.Reply{}, err
			}
			return judge.judgeBoth(data.Args.Command, ev), nil
		},
	}}}, err
}

// Admits reports which commands the list of allowed ones admits, so that nobody
// needs to be asked about them. Without such a list it admits none.
func (p BashPolicy) Admits() (func(command string) bool, error) {
	judge, err := newBashJudge(&p)
	if err != nil || len(judge.allow) == 0 {
		return func(string) bool { return false }, err
	}
	return func(command string) bool {
		action, _ := judge.decide(command)
		return action == protocol.Observe
	}, nil
}

func parseAll(setting string, texts []string) ([]patterns.Pattern, error) {
	list := make([]patterns.Pattern, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = patterns.Parse(text); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", setting, i, err)
		}
	}
	return list, nil
}

type bashJudge struct {
	deny, allow []patterns.Pattern
	report      []string
	mentions    func([]string) string
}

func newBashJudge(p *BashPolicy) (*bashJudge, error) {
	j := &bashJudge{report: p.Report, mentions: p.Mentions}
	var err error
	if j.deny, err = parseAll("agent.tools.bash.deny", p.Deny); err == nil {
		j.allow, err = parseAll("agent.tools.bash.allow", p.Allow)
	}
	return j, err
}

func (j *bashJudge) judge(text string) (reply protocol.Reply) {
	if len(j.deny)+len(j.allow) > 0 {
		reply.Action, reply.Reason = j.decide(text)
	}
	reply.Notice = j.mention(text)
	return reply
}

// judgeBoth judges a command as it is to run, and what the model gave in its place
// against what never runs. What only hooks in Go are told is not shown.
func (j *bashJudge) judgeBoth(text string, ev *protocol.Event) protocol.Reply {
	reply := j.judge(text)
	var asked struct {
		Command string `json:"command"`
	}
	if len(j.deny) == 0 || reply.Action == protocol.Block || json.Unmarshal(ev.ModelArgs, &asked) != nil || asked.Command == "" {
		return reply
	}
	own := bashJudge{deny: j.deny}
	action, reason := own.decide(asked.Command)
	if action == protocol.Observe || action == protocol.Ask && reply.Action == protocol.Ask {
		return reply
	}
	if jsonspan.Get(ev.Data, "original") == nil {
		reason = "what the model asked for, before a hook changed it, may not run as agent.tools.bash.deny says"
	} else {
		reason = "before a hook changed it: " + reason
	}
	reply.Action, reply.Reason = action, reason
	return reply
}

// mention is the notice about a command that names what it should not touch.
func (j *bashJudge) mention(text string) string {
	for _, name := range j.report {
		if name != "" && strings.Contains(text, name) {
			return fmt.Sprintf("this command names %s, which holds hooks, settings or records of hookd: %s", name, shortened(text))
		}
	}
	if name := j.mentioned(text); name != "" {
		return fmt.Sprintf("this command names %s, where hooks, their settings or what git runs lie: %s", name, shortened(text))
	}
	return ""
}

// mostMentions are looked up in a command: each asks the file system.
const mostMentions = 200

// mentioned returns the path of the report that a word of a command names.
func (j *bashJudge) mentioned(text string) string {
	if j.mentions == nil {
		return ""
	}
	var words []string
	line := shellwords.Split(text)
	for i := range line.Commands {
		for _, word := range paths(&line.Commands[i]) {
			if len(words) < mostMentions && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return j.mentions(words)
}

// paths are the literal words of a command that may be paths: its words, what
// stands after a = in one, and what its redirections write.
func paths(c *shellwords.Command) (words []string) {
	for _, word := range c.Words {
		if !word.Literal {
			continue
		}
		words = append(words, word.Text)
		if _, value, found := strings.Cut(word.Text, "="); found {
			words = append(words, value)
		}
	}
	for _, write := range c.Writes {
		if write.Target.Literal {
			words = append(words, write.Target.Text)
		}
	}
	return words
}

func (j *bashJudge) decide(text string) (protocol.Action, string) {
	line := shellwords.Split(text)
	var undecided *shellwords.Command
	for _, p := range j.deny {
		switch answer, command := line.Compare(p); {
		case answer == shellwords.Yes:
			return protocol.Block, fmt.Sprintf("the command is denied: %s matches %q of agent.tools.bash.deny", quoted(command.Text), p.Text)
		case answer == shellwords.Undecided && undecided == nil:
			undecided = command
		}
	}
	if slices.ContainsFunc(j.allow, func(p patterns.Pattern) bool { return p.Exact && p.Literal == line.Text }) {
		return protocol.Observe, "" // its author saw all of it
	}
	if len(j.allow) > 0 {
		_, command := line.Admits(j.allow)
		switch {
		case command != nil && command.Unclear == "":
			return protocol.Ask, fmt.Sprintf("%s is not among the commands that run without asking (agent.tools.bash.allow)", quoted(command.Text))
		case command != nil:
			return protocol.Ask, fmt.Sprintf("what %s runs cannot be compared with agent.tools.bash.allow: %s", quoted(command.Text), command.Unclear)
		}
	}
	switch {
	case line.Err != nil:
		return protocol.Ask, fmt.Sprintf("the command cannot be compared with the list of commands: %v", line.Err)
	case undecided != nil && undecided.Unclear != "":
		return protocol.Ask, fmt.Sprintf("what %s runs cannot be compared with agent.tools.bash.deny: %s", quoted(undecided.Text), undecided.Unclear)
	case undecided != nil:
		return protocol.Ask, fmt.Sprintf("what %s runs only shows when it runs, so it cannot be compared with agent.tools.bash.deny", quoted(undecided.Text))
	}
	return protocol.Observe, ""
}

func quoted(text string) string { return "`" + shortened(text) + "`" }

// shortened returns a command for a message.
func shortened(command string) string { return text.Shorten(command, 200) }
