//go:build interop && unix

package interop

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// Words that a hook says, and the model has to read or not to read.
const (
	reason      = "a person does that, not an agent"
	sessionWord = "word-of-the-session-start"
	promptWord  = "word-of-the-prompt"
	stopWord    = "word-of-the-stop"
	withheld    = "word-of-a-withheld-result"
	changedWord = "word-of-a-changed-result"
	secret      = "SECRET-4711"
)

// Hooks of the person, one for each part of an answer. Those for shells are asked about tools
// of unknown kind, too, as MCP tools are under agents that give them no prefix (Copilot,
// OpenCode): such a call has no command.
var personsHooks = map[string]string{
	"session.sh": `#!/bin/sh
# hook: events=session-start
exec "$HOOKD" reply observe --context ` + sessionWord + `
`,
	"prompt.sh": `#!/bin/sh
# hook: events=prompt-submit
prompt=$("$HOOKD" get data.prompt) || exit 1
case "$prompt" in *"forbidden prompt"*) exec "$HOOKD" reply block "` + reason + `" ;; esac
exec "$HOOKD" reply observe --context ` + promptWord + `
`,
	"refusing.sh": `#!/bin/sh
# hook: events=tool-call-start match.tool=@shell can=block
command=$("$HOOKD" get data.args.command) || exit 1
case "$command" in *refused.txt*) "$HOOKD" reply block "` + reason + `" ;; esac
`,
	"changing.sh": `#!/bin/sh
# hook: events=tool-call-start match.tool=@shell can=modify
command=$("$HOOKD" get data.args.command) || exit 1
case "$command" in *original.txt*) "$HOOKD" reply modify --set data.args.command="echo it was changed >changed.txt; cat changed.txt" ;; esac
`,
	"files.sh": `#!/bin/sh
# hook: events=tool-call-start match.tool=write_file can=block
path=$("$HOOKD" get data.args.path) || exit 1
case "$path" in *refused-file.txt) "$HOOKD" reply block "` + reason + `" ;; esac
`,
	"mcp.sh": `#!/bin/sh
# hook: events=tool-call-start match.tool=mcp__mini__* can=block
text=$("$HOOKD" get data.args.text) || exit 1
case "$text" in *refused*) "$HOOKD" reply block "` + reason + `" ;; esac
`,
	"results.sh": `#!/bin/sh
# hook: events=tool-call-end match.tool=@shell
text=$("$HOOKD" get data.result.content.0.text) || exit 1
case "$text" in
*withhold*) "$HOOKD" reply block "` + withheld + `" ;;
*rewrite*) echo '{"action":"modify","changes":{"result":{"content":"` + changedWord + `","isError":false}}}' ;;
esac
`,
	"stop.sh": `#!/bin/sh
# hook: events=agent-stop
continued=$("$HOOKD" get data.continued) || exit 1
[ "$continued" != 0 ] || "$HOOKD" reply block ` + stopWord + `
`,
}

// TestRealAgents: what hooks answer under agents into which hookd install put hookd is what
// these agents do, by what lies in the project afterwards and what their model reads.
// Where an agent cannot, by the table of docs/bridges.md, it is a refusal or the log says so.
func TestRealAgents(t *testing.T) {
	for i := range realAgents {
		a := &realAgents[i]
		t.Run(a.name, func(t *testing.T) {
			t.Parallel() // one installs, and another waits for its model
			if a.endsOnRefusal() {
				t.Run("refusal", a.refusal)
			} else {
				t.Run("answers", a.answers)
			}
			t.Run("prompt", a.prompt)
			t.Run("project", a.project)
			t.Run("monitor", a.monitor)
			if a.tools.read != nil {
				t.Run("resources", a.resources)
			}
			if a.asking != nil {
				t.Run("permission", a.permission)
			}
			if a.blocks {
				t.Run("no hookd", a.withoutHookd)
			}
		})
	}
}

// answers is a run with each part of an answer in it.
func (a *realAgent) answers(t *testing.T) {
	var steps []step
	add := func(s step) int { steps = append(steps, s); return len(steps) - 1 }
	refused := add(a.shell("echo no >refused.txt"))
	changed := add(a.shell("echo no >original.txt"))
	ran := add(a.shell("echo the third ran >third.txt; cat third.txt"))
	hidden := add(a.shell("echo withhold; cat secret.txt"))
	rewritten := add(a.shell("echo rewrite; cat secret.txt"))
	ownShell := add(a.shell("echo '{}' >" + a.own))
	refusedFile, file, ownFile := -1, -1, -1
	if a.tools.write != nil {
		refusedFile = add(step{})
		file = add(step{})
		ownFile = add(step{})
	}
	refusedMCP, mcp := -1, -1
	if a.mcp != nil {
		say := call(a.tools.mcp, "text")
		refusedMCP, mcp = add(calling(say("it is refused"))), add(calling(say("hello")))
	}
	add(done())
	s := newStage(t, a, steps...)
	if a.tools.write != nil {
		steps[refusedFile] = calling(a.tools.write(s.path("refused-file.txt"), "no"))
		steps[file] = calling(a.tools.write(s.path("file.txt"), "the file"))
		steps[ownFile] = calling(a.tools.write(s.path(a.own), "{}"))
	}
	s.put("proj/secret.txt", secret, 0o600)
	for name, text := range personsHooks {
		s.hook(name, text)
	}
	s.install()
	said := s.ask("do the thing")

	told := s.model.told()
	if len(told) != len(steps)-1 {
		t.Fatalf("the model read %d results, want %d; the agent said:\n%s", len(told), len(steps)-1, said)
	}
	if s.has("refused.txt") || !strings.Contains(told[refused], reason) {
		t.Errorf("a refused call: it ran %v, and the model reads %s", s.has("refused.txt"), told[refused])
	}
	s.checkChanged(told[changed])
	if !s.has("third.txt") || !strings.Contains(told[ran], "the third ran") {
		t.Errorf("a call that no hook minds: it ran %v, and the model reads %s", s.has("third.txt"), told[ran])
	}
	s.checkResults(told[hidden], told[rewritten])
	if s.has(a.own) || !strings.Contains(told[ownShell], "hooks.selfProtection") {
		t.Errorf("a command that writes the agent's own settings: they are there %v, and the model reads %s", s.has(a.own), told[ownShell])
	}
	if a.tools.write != nil {
		if s.has("refused-file.txt") || !strings.Contains(told[refusedFile], reason) {
			t.Errorf("a refused file: it is there %v, and the model reads %s", s.has("refused-file.txt"), told[refusedFile])
		}
		if s.text("proj/file.txt") == "" {
			t.Errorf("a file that no hook minds is not there, and the model reads %s", told[file])
		}
		if s.has(a.own) || !strings.Contains(told[ownFile], "hooks.selfProtection") {
			t.Errorf("a tool that writes the agent's own settings: they are there %v, and the model reads %s", s.has(a.own), told[ownFile])
		}
	}
	if a.mcp != nil {
		calls := s.text("mini.js.said")
		if calls != "hello\n" || !strings.Contains(told[refusedMCP], reason) || !strings.Contains(told[mcp], "said hello") {
			t.Errorf("the MCP server was asked for %q, and the model reads %s and %s", calls, told[refusedMCP], told[mcp])
		}
	}
	s.checkTexts()
	if log := s.hookd("log"); !strings.Contains(log, "refusing.sh") {
		t.Errorf("hookd log does not show the refusal:\n%s", log)
	}
	if t.Failed() {
		t.Logf("hookd log:\n%s\nthe agent said:\n%s", s.hookd("log"), said)
	}
}

// resources: a hook that judges reads of resources by hookd's name of them is asked about the
// tool that the agent has for them.
func (a *realAgent) resources(t *testing.T) {
	s := newStage(t, a, calling(a.tools.read("note://refused")), calling(a.tools.read("note://open")), done())
	s.hook("reads.sh", `#!/bin/sh
# hook: events=tool-call-start match.tool=read_mcp_resource match.when="data.kind == 'mcp'" can=block
uri=$("$HOOKD" get data.args.uri) || exit 1
case "$uri" in *refused) "$HOOKD" reply block "`+reason+`" ;; esac
`)
	s.install()
	said := s.ask("read the notes")
	told := s.model.told()
	if len(told) != 2 || !strings.Contains(told[0], reason) || !strings.Contains(told[1], "the note of note://open") || s.text("mini.js.read") != "note://open\n" {
		t.Errorf("the server was asked for %q, and the model reads %q\nhookd log:\n%s\nthe agent said:\n%s", s.text("mini.js.read"), told, s.hookd("log"), said)
	}
}

// checkChanged: the changed call ran in the place of the model's, or none did.
func (s *stage) checkChanged(told string) {
	s.t.Helper()
	can, _ := s.can(protocol.ToolCallStart)
	changes := can.Change.Possible()
	switch ran := s.has("changed.txt"); {
	case s.has("original.txt"):
		s.t.Error("the call that a hook changed was run as the model wrote it")
	case changes && (!ran || !strings.Contains(told, "it was changed")):
		s.t.Errorf("the call as the hook wants it: run %v, and the model reads %s", ran, told)
	case !changes && (ran || !strings.Contains(told, "the hook changing.sh changed args")):
		s.t.Errorf("the agent takes no changed args: run %v, and the model reads %s, want a refusal that says so", ran, told)
	}
}

// checkResults: a withheld and a changed result, of which the model does not read the old
// text, or the log says that the agent could not take it.
func (s *stage) checkResults(hidden, rewritten string) {
	s.t.Helper()
	can, has := s.can(protocol.ToolCallEnd)
	log := ""
	if !has || !can.Block.Possible() || !can.Change.Possible() {
		log = s.hookd("log")
	}
	for _, part := range []struct {
		name, told, word string
		means            dialect.Means
	}{{"block", hidden, withheld, can.Block}, {"change", rewritten, changedWord, can.Change}} {
		reads, lost := strings.Contains(part.told, secret), strings.Contains(log, "results.sh")
		switch {
		case part.means.Possible() && (reads || !strings.Contains(part.told, part.word)):
			s.t.Errorf("%s of a result: the model reads %s", part.name, part.told)
		case has && !part.means.Possible() && reads && !lost:
			s.t.Errorf("%s of a result, which the agent cannot take: the model reads %s, and the log does not say so:\n%s", part.name, part.told, log)
		}
	}
}

// checkTexts: the model reads what hooks say at the start, with the prompt and at the end,
// where the agent takes it; and goes on for one turn and not for more.
func (s *stage) checkTexts() {
	s.t.Helper()
	for _, each := range []struct {
		event protocol.EventName
		word  string
		means func(dialect.Can) dialect.Means
	}{
		{protocol.SessionStart, sessionWord, func(c dialect.Can) dialect.Means { return c.Context }},
		{protocol.PromptSubmit, promptWord, func(c dialect.Can) dialect.Means { return c.Context }},
		{protocol.AgentStop, stopWord, func(c dialect.Can) dialect.Means { return c.Continue }},
	} {
		if why := s.agent.races[each.event]; why != "" {
			s.t.Logf("at %s: the model reads %s: %v (%s)", each.event, each.word, s.model.read(each.word), why)
			continue
		}
		can, has := s.can(each.event)
		want := has && each.means(can).Possible() && s.agent.mute[each.event] == ""
		if got := s.model.read(each.word); got != want {
			s.t.Errorf("at %s: the model reads %s: %v, want %v", each.event, each.word, got, want)
		}
	}
}
