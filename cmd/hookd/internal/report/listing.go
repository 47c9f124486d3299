package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rule"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/units"
)

// Listing prints the table of hooks, and below it what the person must know about them: why some
// do not run, what they hold back, and how many findings there are.
func Listing(p *show.Printer, listing daemon.Listing) {
	if listing.Project != "" {
		p.Print("%s\n", p.In(show.Quiet, "project "+show.Line(listing.Project)))
	}
	for _, s := range listing.Settings {
		if s.State != string(loader.SettingsInForce) {
			p.Print("%s %s: %s\n", p.In(show.Warn, "!"), p.In(show.Name, show.Line(s.File)), settingsText(listing, s))
		}
	}
	passed := passedOver(p, listing.Findings)
	switch {
	case len(listing.Hooks) > 0:
		hookTable(p, listing.Hooks)
	case passed:
		p.Print("no hooks are in force\n")
	default:
		p.Print("no hooks; hookd new NAME writes one\n")
	}
	notRunning(p, listing)
	failsOpen(p, listing.Hooks)
	unwatchedHooks(p, listing.Hooks)
	heldStreams(p, listing.Hooks)
	if n := len(listing.Findings); n > 0 {
		p.Print("%s\n", p.In(show.Warn, text.Count(n, "finding")+", see hookd check"))
	}
}

// passedOver names the folders whose hooks and settings do not count, which would
// else look as if there were none.
func passedOver(p *show.Printer, findings []schema.Finding) (any bool) {
	for i := range findings {
		if f := &findings[i]; f.Code == string(loader.CodeFolderIgnored) {
			any = true
			p.Print("%s %s: %s\n  %s\n", p.In(show.Warn, "!"), p.In(show.Name, show.Line(f.File)), show.Line(f.Message), p.In(show.Quiet, "→ "+show.Line(f.Remedy)))
		}
	}
	return any
}

// trustCommand returns what a person types to decide about a file of a project. It names
// the project if that is another than the one of the listing.
func trustCommand(listing daemon.Listing, file string) string {
	for dir := filepath.Dir(file); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == ".acai" && filepath.Dir(dir) != listing.Project {
			return "hookd trust --project " + show.Line(filepath.Dir(dir))
		}
	}
	return "hookd trust"
}

// settingsText says in words whether a settings file counts.
func settingsText(listing daemon.Listing, s daemon.ListedSettings) string {
	switch loader.SettingsState(s.State) {
	case loader.SettingsUntrusted:
		return "not in force, nobody allowed it: " + trustCommand(listing, s.File)
	case loader.SettingsChanged:
		for i := range listing.Findings {
			if f := &listing.Findings[i]; f.Code == string(loader.CodeSettingsChanged) && f.File == s.File && !strings.Contains(f.Remedy, "hookd trust") {
				return "cannot be used as it is; what was allowed stays in force: hookd check"
			}
		}
		return "changed since it was allowed; what was allowed stays in force: " + trustCommand(listing, s.File)
	case loader.SettingsGone:
		return "gone; what was allowed stays in force: " + trustCommand(listing, s.File)
	case loader.SettingsDenied:
		return "not in force: denied with hookd untrust"
	case loader.SettingsUnreadable:
		return "cannot be read: hookd check"
	}
	return "in force"
}

func hookTable(p *show.Printer, hooks []daemon.Listed) {
	table := show.Table{Header: []string{"HOOK", "LAYER", "CAN", "STATUS", "LIMIT", "ON FAILURE"}}
	pools := slices.ContainsFunc(hooks, func(h daemon.Listed) bool { return h.Pool != nil })
	if pools {
		table.Header = append(table.Header, "RUN")
	}
	table.Header = append(table.Header, "EVENTS")
	for _, h := range hooks {
		row := []show.Cell{
			{Text: h.Name, Tone: show.Name}, {Text: layerText(h)}, {Text: canText(h)}, statusCell(h.Status),
			{Text: units.FormatDuration(time.Duration(h.TimeoutMs) * time.Millisecond)}, {Text: failureText(h)},
		}
		if pools {
			row = append(row, show.Cell{Text: runText(h)})
		}
		table.Add(append(row, show.Cell{Text: EventsText(h)})...)
	}
	table.Write(p)
}

// layerText returns a hook's layer, which says what it may overrule.
func layerText(h daemon.Listed) string {
	if h.DescribedBy == string(protocol.Builtin) && h.Source != protocol.Builtin {
		return string(h.Source) + " (builtin)"
	}
	if h.Imported != nil {
		return string(h.Source) + ", " + importedText(h)
	}
	return string(h.Source)
}

// importedText is where in another agent's settings a hook stands: .claude/settings.json:12.
func importedText(h daemon.Listed) string {
	file := filepath.Join(filepath.Base(filepath.Dir(h.Imported.File)), filepath.Base(h.Imported.File))
	if h.Imported.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, h.Imported.Line)
}

// runText says how a hook's process lives, and what is kept for it while hookd
// serve or hookd run is at work.
func runText(h daemon.Listed) string {
	if h.Pool == nil {
		return string(h.Run)
	}
	text := fmt.Sprintf("%s, pool %d", h.Run, h.Pool.Size)
	if h.Pool.Started > 0 {
		text += fmt.Sprintf(": %d ready, %d started, %d used, %d restarts", h.Pool.Ready, h.Pool.Started, h.Pool.Used, h.Pool.Restarts)
	}
	return text
}

func canText(h daemon.Listed) string {
	text := string(h.Can)
	if h.Mode == protocol.Audit {
		text += " (audit)"
	}
	if h.Reply != nil {
		text = "rule: " + ruleText(h.Reply)
		if h.Mode == protocol.Audit {
			text += " (audit)"
		}
	}
	if h.Dialect != "" {
		text += ", speaks " + show.Line(h.Dialect)
	}
	return text
}

// ruleText says in a word or two what a rule answers.
func ruleText(r *rule.Reply) string {
	var words []string
	if r.Refuses() || r.Grants() {
		words = append(words, string(r.Action))
	}
	if r.Context != "" {
		words = append(words, "context")
	}
	if r.Notice != "" {
		words = append(words, "notice")
	}
	return strings.Join(words, ", ")
}

func failureText(h daemon.Listed) string {
	if h.ByDialect {
		return "as " + show.Line(h.Dialect) + " does"
	}
	if h.Required {
		return string(h.OnFailure) + ", required"
	}
	return string(h.OnFailure)
}

func statusCell(status executor.Status) show.Cell {
	tone := show.Bad
	switch status {
	case executor.Ready:
		tone = show.Good
	case executor.Disabled:
		tone = show.Quiet
	case executor.Untrusted:
		tone = show.Warn
	}
	return show.Cell{Text: string(status), Tone: tone}
}

// EventsText returns what a hook is asked about: its events and its matchers.
func EventsText(h daemon.Listed) string {
	names := make([]string, len(h.Events))
	for i, e := range h.Events {
		names[i] = string(e)
	}
	if len(h.Named) > 0 {
		names = h.Named
	}
	text := show.Line(strings.Join(names, " "))
	if gates := len(names); gates > 4 {
		text = fmt.Sprintf("%s … (%d events)", strings.Join(names[:3], " "), gates)
	}
	match := matchText(h.Match)
	if h.Matcher != "" {
		match = strings.TrimSuffix(show.Shorten(h.Matcher, 40)+"; "+match, "; ")
	}
	if match != "" {
		text += " [" + match + "]"
	}
	return text
}

// matchText returns a hook's matchers, "" without any.
func matchText(m schema.Match) string {
	var match []string
	if len(m.Tool) > 0 {
		match = append(match, strings.Join(m.Tool, ","))
	}
	if len(m.Source) > 0 {
		match = append(match, "source "+strings.Join(m.Source, ","))
	}
	if m.Agent != "" {
		match = append(match, "agent "+m.Agent)
	}
	if m.Step != "" {
		match = append(match, "step "+m.Step)
	}
	if len(m.Command) > 0 {
		match = append(match, "command "+show.Shorten(strings.Join(m.Command, ", "), 60))
	}
	if len(m.Path) > 0 {
		match = append(match, "path "+show.Shorten(strings.Join(m.Path, ", "), 60))
	}
	if m.When != "" {
		match = append(match, "when "+show.Shorten(m.When, 40))
	}
	return strings.Join(match, "; ")
}

// notRunning says of each hook that does not run why, and what to do; hooks with
// the same reason together.
func notRunning(p *show.Printer, listing daemon.Listing) {
	type reason struct {
		status      executor.Status
		why, remedy string
	}
	var order []reason
	names := map[reason][]string{}
	for _, h := range listing.Hooks {
		if h.Status == executor.Ready || h.Why == "" {
			continue
		}
		r := reason{h.Status, h.Why, ""}
		switch h.Status {
		case executor.Untrusted, executor.Changed:
			r.remedy = trustCommand(listing, h.Path) + " shows them and asks"
		case executor.Disabled: // a decision; what else is wrong with the hook does not matter
			switch {
			case strings.HasPrefix(h.Why, "switched off with hookd disable"):
				r.remedy = "hookd enable " + h.Name + " switches it on again"
			case h.Why == "denied with hookd untrust":
				r.remedy = trustCommand(listing, h.Path) + " shows it and asks again"
			}
		default:
			r.why, r.remedy = firstFinding(listing.Findings, h.Name, h.Why)
		}
		if names[r] == nil {
			order = append(order, r)
		}
		names[r] = append(names[r], h.Name)
	}
	for _, r := range order {
		p.Print("%s %s: %s: %s\n", p.In(show.Warn, "!"), p.In(show.Name, show.Line(strings.Join(names[r], " "))), r.status, show.Line(r.why))
		if r.remedy != "" {
			p.Print("  %s\n", p.In(show.Quiet, "→ "+show.Line(r.remedy)))
		}
	}
}

// firstFinding returns the first error about a hook, which says more than its status.
func firstFinding(findings []schema.Finding, hook, why string) (message, remedy string) {
	for _, f := range findings {
		if f.Hook == nil || *f.Hook != hook || f.Severity != schema.SeverityError {
			continue
		}
		message = f.Message
		if f.File != "" && f.Line != nil {
			message += fmt.Sprintf(" (%s:%d)", filepath.Base(f.File), *f.Line)
		}
		return message, f.Remedy
	}
	return why, ""
}

// heldStreams names the hooks because of which text is held back instead of streamed: they
// may still refuse or change it.
func heldStreams(p *show.Printer, hooks []daemon.Listed) {
	for _, held := range []struct {
		event protocol.EventName
		what  string
	}{{protocol.InferenceEnd, "the model's text is"}, {protocol.ToolCallEnd, "a tool's output is"}, {protocol.SubagentStop, "a sub-agent's last answer is"}} {
		var names []string
		for _, h := range hooks {
			holds := h.Status == executor.Ready && h.Source != protocol.Builtin && // ours hold nothing but their own tools
				h.Mode == protocol.Enforce && (h.Can != protocol.CanObserve || h.Required)
			if holds && slices.Contains(h.Events, held.event) {
				names = append(names, show.Line(h.Name))
			}
		}
		if len(names) > 0 {
			p.Print("%s\n", p.In(show.Quiet, held.what+" held back until "+strings.Join(names, ", ")+" has answered"))
		}
	}
}

// failsOpen names the hooks of other agents that refuse, and that let pass what they could
// not judge, as their own agents do.
func failsOpen(p *show.Printer, hooks []daemon.Listed) {
	var order []string
	names := map[string][]string{}
	for _, h := range hooks {
		if h.ByDialect && h.Status == executor.Ready {
			if names[h.Dialect] == nil {
				order = append(order, h.Dialect)
			}
			names[h.Dialect] = append(names[h.Dialect], p.In(show.Name, show.Line(h.Name)))
		}
	}
	for _, speaks := range order {
		of, what := names[speaks], "speaks "
		if len(of) > 1 {
			what = "speak "
		}
		p.Print("%s %s: %s, which goes on when the hook crashes; add onFailure: block\n", p.In(show.Warn, "!"), strings.Join(of, ", "), what+show.Line(speaks))
	}
}

// unwatchedHooks names the hooks that run more of the project than was allowed.
func unwatchedHooks(p *show.Printer, hooks []daemon.Listed) {
	for _, h := range hooks {
		if len(h.Unwatched) > 0 {
			unwatchedCode(p, h.Name, h.Unwatched)
		}
	}
}

func unwatchedCode(p *show.Printer, name string, what []string) {
	p.Print("%s %s: runs code of the project that hookd does not watch: %s\n", p.In(show.Warn, "!"), p.In(show.Name, show.Line(name)), show.Line(strings.Join(what, "; ")))
}
