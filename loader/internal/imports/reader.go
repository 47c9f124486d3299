package imports

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

// Read reads the hooks in the settings files of one agent and one scope. A file of which
// nothing counts is an error; the hooks of the others are returned all the same.
func (a *Agent) Read(texts []Text) (hooks []Hook, findings []schema.Finding, bad []*schema.UnreadableError) {
	r := &reader{agent: a}
	for _, t := range texts {
		if err := r.file(t); err != nil {
			bad = append(bad, err)
		}
	}
	if a.once {
		r.hooks = withoutRepeats(r.hooks)
	}
	r.skipOurs()
	giveNames(r.hooks)
	return r.hooks, r.findings, bad
}

func (r *reader) file(t Text) *schema.UnreadableError {
	f := &file{path: t.File}
	var err error
	if f.root, err = document.Parse(t.Format, t.Bytes); err != nil {
		bad := &schema.UnreadableError{File: t.File, Message: err.Error(), Remedy: remedyFile, Err: err}
		if syntax := (*document.SyntaxError)(nil); errors.As(err, &syntax) {
			bad.Line, bad.Message = syntax.Line, fmt.Sprintf("not valid %s: %s", strings.ToUpper(strings.TrimSuffix(string(t.Format), "c")), syntax.Message)
		}
		return bad
	}
	if f.root.Kind != document.Object {
		f.spoil(f.root, "the file holds "+f.root.Kind.String()+", not an object")
		return f.bad
	}
	before := len(r.hooks)
	r.agent.read(r, f)
	if f.bad != nil {
		r.hooks = r.hooks[:before]
		return f.bad
	}
	for i := before; f.off && i < len(r.hooks); i++ {
		r.hooks[i].Off = true
	}
	return nil
}

const remedyFile = "correct the file; hookd reads it again when it changes"

// spoil says that nothing in the file counts. The first reason stands.
func (f *file) spoil(n *document.Node, message string) {
	if f.bad == nil {
		f.bad = &schema.UnreadableError{File: f.path, Line: n.Line, Message: message, Remedy: remedyFile}
	}
}

// object returns the object at a key of the file's root, nil if it is not there. One
// that is there twice, or something else, spoils the file: nobody knows which counts.
func (f *file) object(n *document.Node, key string) *document.Node {
	value := f.once(n, key)
	if value != nil && value.Kind != document.Object {
		f.spoil(value, key+" is "+value.Kind.String()+", not an object")
		return nil
	}
	return value
}

// once returns the value of a key; one that is there twice spoils the file.
func (f *file) once(n *document.Node, key string) *document.Node {
	var value *document.Node
	for _, m := range n.Members {
		switch {
		case m.Key != key:
		case value != nil:
			f.spoil(m.Value, "the key "+key+" is there twice")
		default:
			value = m.Value
		}
	}
	if value != nil && value.Kind == document.Null {
		return nil
	}
	return value
}

// flag reads true or false at a key; something else spoils the file.
func (f *file) flag(n *document.Node, key string, otherwise bool) bool {
	value := f.once(n, key)
	switch {
	case value == nil:
		return otherwise
	case value.Kind != document.Bool:
		f.spoil(value, key+" is "+value.Kind.String()+", not true or false")
		return otherwise
	}
	return value.Text == "true"
}

// warn reports what is not carried over as it is written.
func (r *reader) warn(f *file, line int, message, remedy string) {
	r.findings = append(r.findings, report.New(report.ImportPart, f.path, line, "", r.agent.Title+": "+message, remedy))
}

// fault reports what cannot be read.
func (r *reader) fault(f *file, line int, message, remedy string) {
	r.findings = append(r.findings, report.New(report.ImportFaulty, f.path, line, "", r.agent.Title+": "+message, remedy))
}

// events goes through the members of an object that are named after events.
func (r *reader) events(f *file, hooks *document.Node, each func(event string, list *document.Node)) {
	seen := map[string]bool{}
	for _, m := range hooks.Members {
		switch {
		case seen[m.Key]:
			f.spoil(m.Value, "the event "+shown(m.Key)+" is there twice")
			return
		case m.Value.Kind == document.Null:
		case m.Value.Kind != document.List:
			r.fault(f, m.Line, "the hooks of "+shown(m.Key)+" are "+m.Value.Kind.String()+", not a list", remedyFile)
			r.faultyAt(f, r.agent.Name, m.Key, m.Value)
		default:
			each(m.Key, m.Value)
		}
		seen[m.Key] = true
	}
}

// known reports whether a dialect has an event of that name that hookd has too, and says
// so if not: nothing of such an event's list is carried over.
func (r *reader) known(f *file, speaks, event string, list *document.Node) bool {
	p := foreignhooks.Find(speaks)
	if p == nil {
		r.fault(f, list.Line, "hookd does not speak the protocol of "+speaks, "remove it from hooks.import")
		return false
	}
	if len(list.Items) == 0 {
		return false
	}
	if _, err := p.Resolve(event); err != nil {
		r.findings = append(r.findings, report.New(report.ImportPart, f.path, list.Line, "", err.Error(), "hooks for it run under "+r.agent.Title+" only"))
		return false
	}
	return true
}

// faultyAt adds a hook that cannot be read: where it could have refused, it refuses.
func (r *reader) faultyAt(f *file, speaks, event string, n *document.Node) {
	if p := foreignhooks.Find(speaks); p == nil {
		return
	} else if _, err := p.Resolve(event); err != nil {
		return
	}
	r.hooks = append(r.hooks, Hook{Agent: r.agent.Name, Dialect: speaks, Event: event, Pos: schema.Pos{File: f.path, Line: n.Line}, Faulty: true})
}

// entry is one handler while it is read.
type entry struct {
	*reader
	file *file
	node *document.Node
	hook Hook
	skip bool // it is not imported, and why was said
}

func (r *reader) entry(f *file, speaks, event string, n *document.Node) *entry {
	return &entry{reader: r, file: f, node: n, hook: Hook{
		Agent: r.agent.Name, Dialect: speaks, Event: event, Pos: schema.Pos{File: f.path, Line: n.Line},
	}}
}

// add adds the hook, if it is one.
func (e *entry) add() {
	if e.skip {
		return
	}
	if !e.hook.Faulty && e.hook.Shell == "" && len(e.hook.Argv) == 0 {
		e.wrong(e.node, "the entry has no command")
	}
	e.reader.hooks = append(e.reader.hooks, e.hook)
}

// leave leaves the entry out, and says why.
func (e *entry) leave(message, remedy string) {
	e.skip = true
	e.warn(e.file, e.node.Line, e.hook.Event+": "+message, remedy)
}

// part reports a part of the entry that is not carried over.
func (e *entry) part(n *document.Node, message, remedy string) {
	e.warn(e.file, n.Line, e.hook.Event+": "+message, remedy)
}

// wrong makes the entry faulty.
func (e *entry) wrong(n *document.Node, message string) {
	e.hook.Faulty = true
	e.fault(e.file, n.Line, e.hook.Event+": "+message, remedyFile)
}

// members checks the names of the entry's members: a name that is there twice makes it
// faulty, and one that nobody knows may be a switch of a later version.
func (e *entry) members(n *document.Node, known ...string) {
	seen := map[string]bool{}
	for _, m := range n.Members {
		switch {
		case seen[m.Key]:
			e.wrong(m.Value, shown(m.Key)+" is there twice")
		case !slices.Contains(known, m.Key):
			e.part(m.Value, shown(m.Key)+" is not known to hookd, and has no effect here", "look whether the hook does without it")
		}
		seen[m.Key] = true
	}
}

// text reads a string; something else makes the entry faulty.
func (e *entry) text(n *document.Node, key string) string {
	value := n.Get(key)
	switch {
	case value == nil || value.Kind == document.Null:
		return ""
	case value.Kind != document.String:
		e.wrong(value, key+" is "+value.Kind.String()+", not a string")
		return ""
	case strings.ContainsRune(value.Text, 0):
		e.wrong(value, key+" holds a NUL byte")
		return ""
	case len(value.Text) > longestText:
		e.wrong(value, fmt.Sprintf("%s has more than %d bytes", key, longestText))
		return ""
	}
	return value.Text
}

// longestText bounds a command line: what a shell takes as one argument.
const longestText = 128<<10 - 1

// texts reads a list of strings.
func (e *entry) texts(n *document.Node, key string) (list []string) {
	value := n.Get(key)
	if value == nil || value.Kind == document.Null {
		return nil
	}
	if value.Kind != document.List {
		e.wrong(value, key+" is "+value.Kind.String()+", not a list")
		return nil
	}
	for _, item := range value.Items {
		if item.Kind != document.String || strings.ContainsRune(item.Text, 0) || len(item.Text) > longestText {
			e.wrong(item, key+" holds "+item.Kind.String()+" that is no argument of a program")
			return nil
		}
		list = append(list, item.Text)
	}
	return list
}

// flag reads true or false.
func (e *entry) flag(n *document.Node, key string) bool {
	value := n.Get(key)
	switch {
	case value == nil || value.Kind == document.Null:
		return false
	case value.Kind != document.Bool:
		e.wrong(value, key+" is "+value.Kind.String()+", not true or false")
		return false
	}
	return value.Text == "true"
}

// Bounds of a hook's limit, those of the field timeout.
const (
	shortest = 10 * time.Millisecond
	longest  = 10 * time.Minute
)

// timeout reads a limit in a unit. One that hookd cannot keep is replaced by the nearest
// that it can.
func (e *entry) timeout(n *document.Node, key string, unit time.Duration) {
	value := n.Get(key)
	if value == nil || value.Kind == document.Null {
		return
	}
	if value.Kind != document.Number {
		e.wrong(value, key+" is "+value.Kind.String()+", not a number")
		return
	}
	number, err := strconv.ParseFloat(value.Text, 64)
	if err != nil || number <= 0 {
		e.part(value, fmt.Sprintf("%s %s is no limit", key, shown(value.Text)), "hooks.timeout counts for it")
		return
	}
	limit := longest
	if ns := number * float64(unit); ns < float64(longest) {
		limit = max(time.Duration(ns), shortest)
	} else if ns > float64(longest) {
		e.part(value, fmt.Sprintf("%s %s is more than hookd gives a hook", key, shown(value.Text)), "it gets "+longest.String())
	}
	e.hook.Timeout = limit
}

// matcher reads a matcher.
func (e *entry) matcher(n *document.Node) { e.hook.Matcher = e.text(n, "matcher") }

// description keeps a text about the hook, the first one that there is.
func (e *entry) description(texts ...string) {
	for _, one := range texts {
		if one = strings.TrimSpace(one); one != "" {
			e.hook.Description = text.Shorten(strings.ToValidUTF8(one, "?"), 200)
			return
		}
	}
}

// shown is a text of the file as a message shows it.
func shown(name string) string { return strconv.Quote(text.Shorten(name, 60)) }

// Some agents have members for what a shell line can say itself: variables with their
// values, and a folder. They become a part of the line, so that the person sees and
// allows them.

// withEnvironment returns a command line that sets variables first.
func (e *entry) withEnvironment(env *document.Node, line string) string {
	if env == nil || env.Kind == document.Null || len(env.Members) == 0 && env.Kind == document.Object {
		return line
	}
	if env.Kind != document.Object {
		e.wrong(env, "env is "+env.Kind.String()+", not an object")
		return line
	}
	var b strings.Builder
	b.WriteString("export")
	for _, m := range env.Members {
		if m.Value.Kind != document.String || !isVariable(m.Key) || strings.ContainsRune(m.Value.Text, 0) {
			e.wrong(m.Value, "env."+shown(m.Key)+" is no variable with a text")
			return line
		}
		b.WriteString(" " + m.Key + "=" + quoted(m.Value.Text))
	}
	return b.String() + "; " + line
}

func isVariable(name string) bool {
	return name != "" && onlyOf(name, "_") && (name[0] < '0' || name[0] > '9')
}

// onlyOf reports whether a text has letters, digits and some other characters only.
func onlyOf(text, others string) bool {
	return strings.IndexFunc(text, func(c rune) bool {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !word && !strings.ContainsRune(others, c)
	}) < 0
}

// quoted writes a text as one word of a shell line.
func quoted(text string) string {
	if text != "" && onlyOf(text, "_-./:@%+=,") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
