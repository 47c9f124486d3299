package imports

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema/document"
)

// condition turns Claude Code's member if, a rule such as Bash(git *), into a condition
// of hookd's. Where the two differ the hook is asked more often, never less.
func (e *entry) condition(n *document.Node) {
	rule := strings.TrimSpace(e.text(e.node, "if"))
	if rule == "" {
		return
	}
	var event protocol.EventName
	if p := foreignhooks.Find(e.hook.Dialect); p != nil {
		event, _ = p.Resolve(e.hook.Event)
	}
	spec := protocol.Lookup(event)
	if spec == nil || !spec.Tool {
		e.part(n, "if has no meaning at this event; here the hook is asked whatever it says", "remove it")
		return
	}
	tool, pattern, hasPattern := strings.Cut(rule, "(")
	tool = strings.TrimSpace(tool)
	pattern, closed := strings.CutSuffix(pattern, ")")
	if hasPattern && !closed || tool == "" {
		e.wrong(n, "if is "+shown(rule)+", not a rule such as Bash(git *)")
		return
	}
	when, ofCommands := toolCondition(tool)
	if when == "" {
		e.part(n, "hookd does not know the tool of if, "+shown(tool)+"; here the hook is asked for every tool that its matcher names", "look whether the hook does without it")
		return
	}
	switch pattern = strings.TrimSpace(pattern); {
	case pattern == "" || pattern == "*":
	case ofCommands:
		when += " && data.args.command matches " + strconv.Quote(commandExpression(pattern))
	default:
		e.part(n, "the part of if in brackets, "+shown(pattern)+", has no effect here: the hook is asked for every call of "+shown(tool), "have the hook itself look at the path or address")
	}
	if len(when) > longestCondition {
		e.part(n, "if is too long for hookd; here the hook is asked whatever it says", "write it shorter")
		return
	}
	e.hook.When = when
}

// longestCondition bounds a condition; see package match.
const longestCondition = 4 << 10

// toolCondition is the condition that a call is one of a tool, "" for one that nobody
// knows. A tool of a kind that hookd does not know may be any.
func toolCondition(tool string) (when string, ofCommands bool) {
	if strings.HasPrefix(tool, "mcp__") {
		return "data.name startsWith " + strconv.Quote(strings.TrimRight(tool, "*")), false
	}
	kind, known := toolname.Kind(tool)
	if !known || kind == protocol.KindOther {
		return "", false
	}
	return "data.kind in [" + strconv.Quote(string(kind)) + `, "other"]`, kind == protocol.KindShell
}

// commandExpression is a regular expression that finds a command in a shell line, wherever
// one may begin. The pattern is Claude Code's: git push, git *, npm run test:*.
func commandExpression(pattern string) string {
	const end, wordEnd = "[\"']?\\s*([;&|)<>}#`\n]|$)", `([^A-Za-z0-9_.-]|$)`
	after := end
	if before, is := strings.CutSuffix(pattern, ":*"); is {
		pattern, after = before, wordEnd
	} else if before, is := strings.CutSuffix(pattern, "*"); is {
		pattern, after = strings.TrimRight(before, " "), ""
		if pattern != before { // git * is also git alone
			after = wordEnd
		}
	}
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = wordsExpression(part)
	}
	before := ""
	if parts[0] != "" {
		before = `(^|[^A-Za-z0-9_.-])`
	}
	return before + strings.Join(parts, `(?s:.*)`) + after
}

// wordsExpression matches words with any blanks, and quotes, between them.
func wordsExpression(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = regexp.QuoteMeta(word)
	}
	out := strings.Join(words, `["']?\s+["']?`)
	if strings.HasPrefix(text, " ") {
		out = `\s+["']?` + out
	}
	if strings.HasSuffix(text, " ") {
		out += `["']?\s`
	}
	return out
}
