package builtin

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// BashPolicy are lists of patterns for shell commands; [protocol.Pattern] says
// how one is written. Deny wins over Allow.
//
// A command line is split into its simple commands: those in pipes, lists,
// substitutions, functions, here-documents for shells, and those that sudo, env,
// xargs, find, eval, sh -c, trap, mapfile -C and the like are given to run. Quotes
// and backslashes are taken away, words joined by one space, and neither the folder
// of a program's path nor options before the first word that is none count against
// it: /bin/rm is rm, git -C sub push is git push.
type BashPolicy struct {
	// Deny are commands that never run. Each simple command is held against them,
	// and so is the line as a whole. A pattern without * and ? also stands for the
	// command with more words behind it: "git push" denies "git push origin". A
	// program, or a word that decides, that is only known when it runs ("$X -rf /")
	// makes the command an ask, and so does a text that the shell evaluates once
	// more while a command is hidden in it (PS4='$(rm x)'; set -x). Where hooks changed
	// the command, the one that the model gave is held against them, too.
	Deny []string

	// Allow are commands that run without asking; with none listed all do. Every
	// simple command must match one as a whole, with assignments before it; one
	// that writes to a file by redirection only matches a pattern that has a > for
	// each. Any other command line is an ask. It is the command as it runs that must
	// match: a hook that changes one cannot have it run unasked.
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
	judge := bashJudge{report: policy.Report, mentions: policy.Mentions}
	var err error
	if judge.deny, err = patterns("agent.tools.bash.deny", policy.Deny); err == nil {
		judge.allow, err = patterns("agent.tools.bash.allow", policy.Allow)
	}
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

func patterns(setting string, texts []string) ([]protocol.Pattern, error) {
	list := make([]protocol.Pattern, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = protocol.ParsePattern(text); err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", setting, i, err)
		}
	}
	return list, nil
}

type bashJudge struct {
	deny, allow []protocol.Pattern
	report      []string
	mentions    func([]string) string
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
	if protocol.Member(ev.Data, "original") == nil {
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
			return fmt.Sprintf("this command names %s, which holds hooks, settings or records of hookd: %s", name, clip(text))
		}
	}
	if name := j.mentioned(text); name != "" {
		return fmt.Sprintf("this command names %s, where hooks, their settings or what git runs lie: %s", name, clip(text))
	}
	return ""
}

// mostMentions are looked up in a command: each asks the file system.
const mostMentions = 200

// mentioned is the path of the report that a word of a command is a name of.
func (j *bashJudge) mentioned(text string) string {
	if j.mentions == nil {
		return ""
	}
	commands, err := splitShell(strings.TrimSpace(text))
	if err != nil {
		commands = roughParts(text)
	}
	var words []string
	for i := range commands {
		for _, word := range commands[i].places() {
			if len(words) < mostMentions && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return j.mentions(words)
}

// places are the words of a command that may be paths: those after the program,
// what follows a = in one, and what redirections write to.
func (c *shellCommand) places() (words []string) {
	for i, word := range c.words {
		if i < len(c.known) && !c.known[i] {
			continue
		}
		words = append(words, word)
		if _, value, found := strings.Cut(word, "="); found {
			words = append(words, value)
		}
	}
	for _, write := range c.writes {
		words = append(words, strings.Trim(strings.TrimLeft(write, "0123456789<>&| "), `"'`))
	}
	return words
}

func (j *bashJudge) decide(text string) (protocol.Action, string) {
	line := strings.TrimSpace(text)
	commands, err := splitShell(line)
	if err != nil {
		commands = roughParts(line)
	}
	whole := shellCommand{text: line}
	if len(line) <= longestShellText {
		whole.words = strings.Fields(line)
	}
	for _, c := range append(commands, whole) {
		texts := append(c.spellings(), c.text)
		for _, p := range j.deny {
			if denies(p, texts) {
				return protocol.Block, fmt.Sprintf("the command is denied: %s matches %q of agent.tools.bash.deny", quoted(c.text), p.Text)
			}
		}
	}
	exactly := func(p protocol.Pattern) bool { return p.Exact && p.Literal == line }
	if slices.ContainsFunc(j.allow, exactly) {
		return protocol.Observe, ""
	}
	if err != nil {
		return protocol.Ask, fmt.Sprintf("the command cannot be held against the list of commands: %v", err)
	}
	for i := range commands {
		c := &commands[i]
		if len(j.allow) > 0 && !c.derived && !j.allows(c) {
			return protocol.Ask, fmt.Sprintf("%s is not among the commands that run without asking (agent.tools.bash.allow)", quoted(c.text))
		}
		if len(j.deny) > 0 && j.open(c) {
			return protocol.Ask, fmt.Sprintf("what %s runs is only known when it runs, so it cannot be held against agent.tools.bash.deny", quoted(c.text))
		}
	}
	return protocol.Observe, ""
}

// denies reports whether a pattern matches a command in one of its spellings.
func denies(p protocol.Pattern, spellings []string) bool {
	literal := strings.Join(strings.Fields(p.Literal), " ")
	for _, text := range spellings {
		if p.Match(text) {
			return true
		}
		if p.Exact && (text == literal || strings.HasPrefix(text, literal+" ")) {
			return true
		}
	}
	return false
}

// spellings are a command's words with the program's path and without it, and
// without options that stand before the first word that is none. Whether an
// option has a value is not known, so both are there: git -C . push is git push.
func (c *shellCommand) spellings() (all []string) {
	if len(c.words) == 0 {
		return nil
	}
	programs := []string{c.words[0]}
	if base := path.Base(c.words[0]); base != c.words[0] {
		programs = append(programs, base)
	}
	for _, at := range behindOptions(c.words) {
		rest := strings.Join(c.words[at:], " ")
		for _, program := range programs {
			all = append(all, strings.TrimSuffix(program+" "+rest, " "))
		}
	}
	return all
}

// mostOptions are looked past, before the first word that is none.
const mostOptions = 40

// behindOptions are the places at which the words behind a command's options may
// begin.
func behindOptions(words []string) (places []int) {
	begins := map[int]bool{1: true}
	for at := 1; at <= len(words) && at <= 2*mostOptions; at++ {
		if !begins[at] {
			continue
		}
		places = append(places, at)
		if at < len(words) && strings.HasPrefix(words[at], "-") {
			begins[at+1], begins[at+2] = true, true
		}
	}
	return places
}

// allows reports whether the list allows a command as it stands.
func (j *bashJudge) allows(c *shellCommand) bool {
	if len(c.words) > 0 && !c.known[0] {
		return false
	}
	parts := slices.Concat(c.sets, c.words, c.writes)
	text := strings.Join(parts, " ")
	return slices.ContainsFunc(j.allow, func(p protocol.Pattern) bool {
		return p.Match(text) && strings.Count(p.Text, ">") >= len(c.writes)
	})
}

// open reports whether a command may turn into a denied one when it runs: its
// program is not known, or what is known of it agrees with the beginning of a
// pattern.
func (j *bashJudge) open(c *shellCommand) bool {
	first := slices.Index(c.known, false)
	places := behindOptions(c.words)
	switch {
	case c.reads || first == 0 || len(places) > mostOptions:
		return true
	case first < 0:
		return false
	}
	known := shellCommand{words: c.words[:first]}
	for _, text := range known.spellings() {
		for _, p := range j.deny {
			literal := strings.Join(strings.Fields(p.Literal), " ")
			if literal != "" && (strings.HasPrefix(literal+" ", text+" ") || strings.HasPrefix(text, literal)) {
				return true
			}
		}
	}
	return false
}

// roughParts splits a text that is no readable bash wherever a command could
// begin: only to find denied ones, whose name and options stand in front.
func roughParts(text string) (parts []shellCommand) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`$\"'<>", r) }) {
		const front = 4 << 10
		words := strings.Fields(part[:min(front, len(part))])
		for i := range words { // the words before may be of the shell: then, do, !
			rest := words[i:min(i+50, len(words))]
			parts = append(parts, shellCommand{text: strings.Join(rest, " "), words: rest})
		}
		if len(parts) > mostShellParts {
			break
		}
	}
	return parts
}

func quoted(text string) string { return "`" + clip(text) + "`" }

// clip shortens a command for a message.
func clip(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
