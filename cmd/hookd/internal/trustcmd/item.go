package trustcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// showItem prints everything that decides what a hook does: a new hook as a
// whole, a changed one as what changed. All of it comes from the project.
func showItem(p *show.Printer, item *loader.PlanItem) {
	if item.Kind == loader.KindSettings {
		showSettingsItem(p, item)
		return
	}
	if item.In != "" {
		p.Print("\n%s  %s\n", p.In(show.Name, show.Line(item.Hook)), p.In(show.Good, "allowed in the main checkout "+show.Line(item.In)))
		return
	}
	head := ""
	for _, power := range Powers(item) {
		head += ", " + power
	}
	p.Print("\n%s  %s%s\n", p.In(show.Name, show.Line(item.Hook)), p.In(toneOf(item.State), string(item.State)), p.In(show.Quiet, head))
	if item.Problem != nil {
		p.Print("  %s %s\n    %s\n", p.In(show.Bad, "✗"), show.Line(item.Problem.Why), p.In(show.Quiet, "→ "+show.Line(item.Problem.Remedy)))
	}
	showAllowedBefore(p, item.AllowedBefore)
	switch item.State {
	case loader.StateTrusted:
		if item.Damaged {
			p.Print("  its private copy is missing or was changed; allowing makes it anew\n")
		}
		return
	case loader.StateGone:
		gone := "its file is gone"
		if item.Was.From != "" {
			gone = "its entry is gone from " + show.Line(item.Was.From)
		}
		if item.Problem != nil {
			p.Print("  %s; that cannot be allowed as long as the settings name it\n", gone)
			return
		}
		if item.Kind == loader.KindInstructions {
			p.Print("  its file is gone, or another one is read in its place; allowing forgets it\n")
			return
		}
		p.Print("  %s; allowing accepts that it is removed\n", gone)
		return
	case loader.StateDenied:
		if len(item.Now.Entry) == 0 && item.Problem == nil {
			gone := "its file"
			if item.Path == "" {
				gone = "its entry"
			}
			p.Print("  %s is gone; allowing forgets the decision\n", gone)
			return
		}
		item = asNew(item)
	}
	if item.InPlace {
		p.Print("  %s\n", p.In(show.Warn, "runs in place: only what is shown here is allowed; it can read other files of its folder when it runs, and hookd does not notice when they change"))
	}
	if len(item.Unwatched) > 0 {
		p.Print("  %s\n", p.In(show.Warn, "runs code of the project that hookd does not watch: "+show.Line(strings.Join(item.Unwatched, "; "))))
	}
	row(p, "from", "", item.Now.From)
	row(p, "shell line", shellLine(item.Was.Entry), shellLine(item.Now.Entry))
	row(p, "runs", item.Was.Interpreter, item.Now.Interpreter)
	row(p, "program", item.Was.Program, item.Now.Program)
	if item.Kind == loader.KindInstructions {
		p.Print("  %s\n", p.In(show.Quiet, "the model reads it in every conversation here"))
	} else {
		showEntry(p, "rules", item.Was.Entry, item.Now.Entry)
	}
	for _, fault := range item.Faults {
		p.Print("  %s %s\n", p.In(show.Warn, "! has no effect:"), show.Line(fault))
	}
	for i := range item.Files {
		showPlanFile(p, &item.Files[i])
	}
}

// Powers are what a hook may decide that a person must know before they allow it: that it
// can refuse, and that it can say yes where the person would be asked.
func Powers(item *loader.PlanItem) (powers []string) {
	if item.Guard {
		powers = append(powers, "can refuse events")
	}
	isAt := func(event protocol.RawMessage) bool {
		return jsonspan.Text(event) == string(protocol.PermissionRequest)
	}
	action := jsonspan.Text(jsonspan.Find(item.Now.Entry, "/reply/action"))
	if action == string(protocol.Allow) || action == "" && jsonspan.Text(jsonspan.Get(item.Now.Entry, "can")) != string(protocol.CanObserve) &&
		slices.ContainsFunc(jsonspan.Elements(jsonspan.Get(item.Now.Entry, "events")), isAt) {
		powers = append(powers, "can say yes in your place")
	}
	return powers
}

// shellLine is the command of a hook of another agent that a shell reads, "" of any other.
func shellLine(entry protocol.RawMessage) string {
	words := jsonspan.Elements(jsonspan.Get(entry, "command"))
	if dialect := jsonspan.Text(jsonspan.Get(entry, "dialect")); len(words) != 3 || dialect == "" || dialect == "hookd" || jsonspan.Text(words[1]) != "-c" {
		return ""
	}
	return jsonspan.Text(words[2])
}

// asNew returns a hook without what it was before, since a hook that was denied is shown
// whole.
func asNew(item *loader.PlanItem) *loader.PlanItem {
	whole := *item
	whole.Was = loader.PlanVersion{}
	whole.Files = slices.DeleteFunc(slices.Clone(item.Files), func(f loader.PlanFile) bool { return f.Mode == 0 })
	for i := range whole.Files {
		f := &whole.Files[i]
		f.WasMode, f.WasSum, f.WasText = 0, "", nil
	}
	return &whole
}

// row prints a value, or what it was and is.
func row(p *show.Printer, what, was, now string) {
	switch {
	case was == now && now == "", was == now && was != "":
	case was == "":
		p.Print("  %s %s\n", p.In(show.Quiet, what+":"), show.Line(now))
	default:
		p.Print("  %s\n", p.In(show.Quiet, what+":"))
		p.Diff("    ", was, now)
	}
}

// showEntry prints a description: of a new hook on a line, of a changed one as
// a diff.
func showEntry(p *show.Printer, what string, was, now protocol.RawMessage) {
	if len(was) == 0 && len(now) > 0 {
		p.Print("  %s %s\n", p.In(show.Quiet, what+":"), show.Line(entryLine(now)))
		return
	}
	if before, after := show.Pretty(was), show.Pretty(now); before != after {
		p.Print("  %s\n", p.In(show.Quiet, what+":"))
		p.Diff("    ", before, after)
	}
}

// defaults are what every hook has that says nothing else.
var defaults = map[string]string{"dialect": `"hookd"`, "enabled": "true", "mode": `"enforce"`, "protocol": "1", "run": `"once"`}

// entryLine writes a description's members that say something, as a header would. What
// stands in a row of its own is left out, and what a failure does is said as it will be.
func entryLine(entry protocol.RawMessage) string {
	parts, ok := members("", entry)
	if !ok {
		return show.Compact(entry)
	}
	byDialect := slices.Contains(parts, "byDialect=true")
	parts = slices.DeleteFunc(parts, func(part string) bool {
		return part == "byDialect=true" || shellLine(entry) != "" && strings.HasPrefix(part, "command=")
	})
	for i := range parts {
		if byDialect && strings.HasPrefix(parts[i], "onFailure=") {
			parts[i] = fmt.Sprintf("onFailure=%q", "as "+jsonspan.Text(jsonspan.Get(entry, "dialect"))+" does")
		}
	}
	return strings.Join(parts, " ")
}

func members(prefix string, object protocol.RawMessage) (parts []string, ok bool) {
	dec := jsontext.NewDecoder(strings.NewReader(string(object)))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, false
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		key := prefix + name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		switch text := string(value); {
		case text == `""`, text == "[]", text == "{}", text == "null", text == "false", text == "0", text == defaults[key]:
		case jsonspan.Kind(value) == '{':
			inner, ok := members(key+".", protocol.RawMessage(value))
			if !ok {
				return nil, false
			}
			parts = append(parts, inner...)
		default:
			parts = append(parts, key+"="+plainValue(protocol.RawMessage(value)))
		}
	}
	return parts, true
}

// plainValue writes words, and lists of words, without JSON's quotes.
func plainValue(value protocol.RawMessage) string {
	var word string
	var words []string
	switch {
	case json.Unmarshal(value, &word) == nil:
		words = []string{word}
	case json.Unmarshal(value, &words) != nil:
		return string(value)
	}
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " ,=\"") {
			return string(value)
		}
	}
	return strings.Join(words, ",")
}

// showPlanFile prints a file of a hook: its text when it is new, else the diff.
func showPlanFile(p *show.Printer, f *loader.PlanFile) {
	if !f.Changed() {
		return
	}
	mode := ""
	switch {
	case f.Mode == 0:
		mode = ", removed"
	case f.WasMode != 0 && f.Mode != f.WasMode:
		mode = fmt.Sprintf(", mode %o → %o", f.WasMode, f.Mode)
	}
	p.Print("  %s %s%s\n", p.In(show.Quiet, "file:"), show.Line(f.Name), p.In(show.Quiet, fmt.Sprintf(", %s%s", text.Count(int(f.Size), "byte"), mode)))
	switch {
	case f.Sum == f.WasSum || f.Sum == "":
	case isBinary(f.Text):
		p.Print("    %s\n", p.In(show.Warn, fmt.Sprintf("a binary of %s, sha256 %s", bytesOf(f.Size), f.Sum)))
	case f.WasSum == "" || f.WasText == nil || isBinary(f.WasText):
		showCode(p, f.Text, f.Left)
	default:
		showCodeDiff(p, f)
	}
}

func toneOf(state loader.State) show.Tone {
	switch state {
	case loader.StateTrusted:
		return show.Good
	case loader.StateDenied, loader.StateGone:
		return show.Bad
	}
	return show.Warn
}
