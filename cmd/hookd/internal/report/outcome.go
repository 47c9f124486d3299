package report

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Outcome prints what the hooks of an event decided: the verdict, what they
// said, what they changed and what went wrong.
func Outcome(p *show.Printer, o *protocol.Outcome) { Trial(p, o, false) }

// Trial prints an outcome like [Outcome]. With trying, the person gave the event to look
// at one hook, and sees all that it changes.
func Trial(p *show.Printer, o *protocol.Outcome, trying bool) {
	name := show.Line(string(o.Event.Event))
	by := ""
	if o.By != nil {
		by = p.In(show.Name, show.Line(*o.By))
	}
	switch o.Action {
	case protocol.Block:
		p.Print("%s %s refused by %s\n", p.In(show.Bad, "✗"), name, by)
	case protocol.Stop:
		p.Print("%s %s refused by %s, and the run ends\n", p.In(show.Bad, "✗"), name, by)
	case protocol.Ask:
		p.Print("%s %s needs a person's consent, says %s\n", p.In(show.Warn, "?"), name, by)
	case protocol.Continue:
		p.Print("%s %s: %s asks to go on\n", p.In(show.Warn, "→"), name, by)
	case protocol.Callback:
		p.Print("%s %s: %s calls recipe %s\n", p.In(show.Warn, "→"), name, by, CalledRecipe(o))
	default:
		p.Print("%s %s passed%s\n", p.In(show.Good, "✓"), name, changers(p, o))
	}
	if o.Reason != "" {
		p.Indented("  ", show.Plain, show.Visible(o.Reason))
	}
	if !o.Refused() {
		changeValues(p, "  ", o, trying)
	}
	hookTexts(p, "context for the model", o.Context)
	hookTexts(p, "notice", Notices(o))
	Warnings(p, "  ", o.Runs, true)
}

// CalledRecipe returns the name of the recipe that a hook calls, "" for none.
func CalledRecipe(o *protocol.Outcome) string {
	if o.Callback == nil {
		return ""
	}
	return show.Line(o.Callback.Name)
}

// changers names the hooks that changed the event.
func changers(p *show.Printer, o *protocol.Outcome) string {
	var names []string
	seen := map[string]bool{}
	for _, c := range o.Changes {
		if !seen[c.By] {
			seen[c.By] = true
			names = append(names, p.In(show.Name, show.Line(c.By)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", changed by " + strings.Join(names, ", ")
}

// Changes prints each change with its owner: a call's arguments as a diff, of all
// else how much was changed (see [protocol.Outcome.Shows]).
func Changes(p *show.Printer, prefix string, o *protocol.Outcome) {
	changeValues(p, prefix, o, false)
}

func changeValues(p *show.Printer, prefix string, o *protocol.Outcome, all bool) {
	for i := range o.Changes {
		c := &o.Changes[i]
		before, after := valueText(c.Before, c.After)
		what := "changed " + show.Line(Dotted(c.Path))
		whole := all || o.Shows(c)
		if !whole {
			what += ": " + howMuch(contentText(c.Before, before), contentText(c.After, after))
		}
		p.Print("%s%s %s\n", prefix, p.In(show.Name, show.Line(c.By)), p.In(show.Quiet, what))
		if whole {
			p.Diff(prefix+"  ", before, after)
		}
	}
	switch {
	case len(o.Replaced) > 0 && all:
		p.Print("%s%s %s\n", prefix, p.In(show.Name, show.Line(o.ReplacedBy)), p.In(show.Quiet, "answered in its place"))
		p.Indented(prefix+"  ", show.Plain, show.Visible(show.Pretty(o.Replaced)))
	case len(o.Replaced) > 0: // what it answered, a later event's hooks may take something out of
		p.Print("%s%s %s\n", prefix, p.In(show.Name, show.Line(o.ReplacedBy)), p.In(show.Quiet, fmt.Sprintf("answered in its place: %d bytes", len(o.Replaced))))
	}
}

// contentText returns the text of content, which comes as a text or as parts. It returns
// other for a value that is neither.
func contentText(value protocol.RawMessage, other string) string {
	var content protocol.Content
	if json.Unmarshal(value, &content) != nil || content.Text() == "" {
		return other
	}
	return content.Text()
}

// howMuch says how far two texts differ, and nothing that is in one of them.
func howMuch(before, after string) string {
	size := fmt.Sprintf("%d → %d bytes", len(before), len(after))
	was, now := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	if len(was) < 2 && len(now) < 2 {
		return size
	}
	kept := map[string]int{}
	for _, line := range now {
		kept[line]++
	}
	gone := 0
	for _, line := range was {
		if kept[line]--; kept[line] < 0 {
			gone++
		}
	}
	return fmt.Sprintf("%d of %s, %s", gone, text.Count(len(was), "line"), size)
}

// valueText returns two values as they are compared: texts as texts, all else as JSON.
func valueText(before, after protocol.RawMessage) (string, string) {
	var was, now string
	if json.Unmarshal(before, &was) == nil && json.Unmarshal(after, &now) == nil {
		return was, now
	}
	return show.Pretty(before), show.Pretty(after)
}

// Dotted writes a JSON Pointer as people write a path.
func Dotted(pointer string) string {
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, part := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return strings.Join(parts, ".")
}

func hookTexts(p *show.Printer, what string, texts []protocol.HookText) {
	for _, t := range texts {
		head := fmt.Sprintf("  %s from %s: ", what, p.In(show.Name, show.Line(t.Hook)))
		first, rest, _ := strings.Cut(strings.TrimRight(show.Visible(t.Text), "\n"), "\n")
		p.Print("%s%s\n", head, first)
		if rest != "" {
			p.Indented("    ", show.Plain, rest)
		}
	}
}

// whoseRule returns the rule that a failure follows, and the layer of the hook.
func whoseRule(run *protocol.Run) string {
	text := "onFailure=" + string(run.Rule)
	if run.Source != "" && run.Source != protocol.Builtin {
		text += ", " + string(run.Source)
	}
	return text
}

// failureLine says how a hook failed and which rule it follows.
func failureLine(p *show.Printer, run *protocol.Run) string {
	text := p.In(show.Name, show.Line(run.Hook)) + " failed: " + string(run.Failure)
	detail := strings.TrimPrefix(run.Detail, run.Hook+": ")
	if run.Failure == protocol.FailSettings {
		detail = strings.TrimPrefix(detail, "settings ") // or the word stands there twice
	}
	if detail != "" {
		text += ", " + show.Line(detail)
	}
	if run.Rule == "" { // who gave up follows no rule
		return text
	}
	return text + p.In(show.Quiet, " ("+whoseRule(run)+")")
}
