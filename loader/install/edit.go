package install

import (
	"errors"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// edit changes the text of one configuration file.
type edit struct {
	in    *Installer
	agent *Agent
	file  file
	old   *fileRecord // of an earlier installation, nil if there is none
}

// install puts the entries of events into a file, in the place of those of an earlier
// installation.
func (e *edit) install(c *Change, r Request, events []Event) error {
	is, err := configtext.Read(e.file.format, c.Before)
	if err != nil {
		return err
	}
	commands := make(map[string]string, len(events))
	for _, event := range events {
		commands[event.Name] = e.in.Places.commandLine(r, event)
	}
	if e.upToDate(is.Root, events, commands) {
		c.After, c.record = c.Before, e.old
		return nil
	}
	base, gone, err := e.strip(is, e.old)
	if err != nil {
		return err
	}
	rec := c.record
	rec.Created = !c.Exists || gone
	if e.old != nil {
		rec.Folders = e.old.Folders
	}
	if !rec.Created {
		c.base, rec.Before = base.Text, hashOf(base.Text)
	}
	after, err := e.insert(base, rec, events, commands)
	if err != nil {
		return err
	}
	if err := e.check(base, after, rec, len(events)); err != nil {
		return err
	}
	c.After, rec.After = after.Text, hashOf(after.Text)
	return nil
}

// insert adds the entries to a text that has none of them, and notes in the record what
// was not there.
func (e *edit) insert(base *configtext.Document, rec *fileRecord, events []Event, commands map[string]string) (*configtext.Document, error) {
	d := base
	var err error
	if e.file.format == configtext.JSON {
		for _, m := range e.agent.layout.root {
			if path := configtext.Names(m.name); base.Root.Get(m.name) == nil {
				rec.note(base, path)
				if d, err = d.Set(path, m.value); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, event := range events {
		path := e.agent.listPath(e.file, base.Root, event.Name)
		rec.note(base, path)
		if d, err = d.Add(path, e.agent.element(event, commands[event.Name])); err != nil {
			return nil, err
		}
	}
	return d, nil
}

var errUnclear = errors.New("hookd cannot add its entries to this file without changing others")

// check makes sure that the new text is the old one and our entries, and nothing else.
func (e *edit) check(base, after *configtext.Document, rec *fileRecord, events int) error {
	if len(e.agent.entriesIn(after.Root)) != events {
		return errUnclear
	}
	unhashed := *rec
	unhashed.After = ""
	stripped, _, err := e.strip(after, &unhashed)
	if err != nil || !configtext.Same(orEmpty(base.Root), orEmpty(stripped.Root)) {
		return errUnclear
	}
	return nil
}

// orEmpty lets a text that says nothing be the same as an empty object.
func orEmpty(n *configtext.Node) *configtext.Node {
	if n == nil || n.Kind == configtext.Null {
		return &configtext.Node{Kind: configtext.Object}
	}
	return n
}

// upToDate reports whether a file has exactly the entries that it should have.
func (e *edit) upToDate(root *configtext.Node, events []Event, commands map[string]string) bool {
	entries := e.agent.entriesIn(root)
	if len(entries) != len(events) {
		return false
	}
	for _, m := range e.agent.layout.root {
		if root.Get(m.name) == nil {
			return false
		}
	}
	for _, event := range events {
		want := configtext.Tree(e.agent.layout.entry(event, commands[event.Name]))
		list := e.agent.listPath(e.file, root, event.Name)
		if !slices.ContainsFunc(entries, func(entry Entry) bool {
			return e.agent.sameEvent(entry.Event, event.Name) && entry.path.Within(list) && configtext.Same(entry.value, want)
		}) {
			return false
		}
	}
	return true
}

// strip returns a text without our entries, as it was before they were put in. gone says
// that there was no file then, and nothing that others put in since.
func (e *edit) strip(d *configtext.Document, rec *fileRecord) (base *configtext.Document, gone bool, err error) {
	if rec != nil && rec.After != "" && rec.After == hashOf(d.Text) {
		if rec.Created {
			return &configtext.Document{Format: d.Format, Text: []byte{}}, true, nil
		}
		if before := e.in.store().before(rec); before != nil {
			base, err = configtext.Read(d.Format, before)
			return base, false, err
		}
	}
	for {
		entries := e.agent.entriesIn(d.Root)
		if len(entries) == 0 {
			return e.finish(d, rec)
		}
		if d, err = e.takeOut(d, entries[len(entries)-1].path, rec); err != nil {
			return nil, false, err
		}
	}
}

// takeOut removes one entry, and what it leaves empty.
func (e *edit) takeOut(d *configtext.Document, path configtext.Path, rec *fileRecord) (*configtext.Document, error) {
	if len(path) > 2 && path[len(path)-2].Name == "hooks" && path[len(path)-3].Name == "" &&
		len(d.Root.Find(path.Parent()).Items) == 1 {
		path = path.Parent().Parent() // the last handler of a group: the group goes
	}
	for len(path) > 1 && e.goesWhole(d.Root, path.Parent(), rec) {
		path = path.Parent()
	}
	d, err := d.Remove(path)
	if err != nil {
		return nil, err
	}
	path = path.Parent()
	left, err := d.Find(path)
	if err != nil || left == nil || len(path) == 0 || len(left.Items)+len(left.Members) > 0 {
		return d, err
	}
	inner, _ := rec.inner(path)
	return e.setInner(d, path, inner)
}

// goesWhole reports whether a part of a file goes with the last thing in it: it was made
// for that, or nobody knows. TOML has no empty list of tables.
func (e *edit) goesWhole(root *configtext.Node, path configtext.Path, rec *fileRecord) bool {
	part := root.Find(path)
	if e.file.format == configtext.TOML || len(part.Items)+len(part.Members) != 1 {
		return false
	}
	_, known := rec.inner(path)
	return rec == nil || rec.made(path) || !known && e.file.format == configtext.YAML
}

// setInner puts the blanks back that stood between brackets. Remarks are not touched: the
// person may have written others since.
func (e *edit) setInner(d *configtext.Document, path configtext.Path, inner string) (*configtext.Document, error) {
	now, _ := d.Inner(path)
	if e.file.format == configtext.JSON && strings.TrimSpace(now) != strings.TrimSpace(inner) {
		return d, nil
	}
	return d.SetInner(path, inner)
}

// finish takes away what else was put in: members that a file must have, and the document
// of a file that had none.
func (e *edit) finish(d *configtext.Document, rec *fileRecord) (base *configtext.Document, gone bool, err error) {
	if e.file.format != configtext.JSON {
		return d, rec != nil && rec.Created && strings.TrimSpace(string(d.Text)) == "", nil
	}
	for _, m := range e.agent.layout.root {
		if d.Root.Get(m.name) == nil || !e.goes(d.Root, m.name, rec) {
			continue
		}
		if d, err = d.Remove(configtext.Names(m.name)); err != nil {
			return nil, false, err
		}
	}
	if d.Root == nil || len(d.Root.Members) > 0 || d.Root.Kind != configtext.Object {
		return d, false, nil
	}
	if rec == nil {
		return d, e.agent.layout.own, nil
	}
	inner, known := rec.inner(nil)
	switch {
	case rec.Created:
		return &configtext.Document{Format: d.Format, Text: []byte{}}, true, nil
	case rec.Blank != nil:
		return &configtext.Document{Format: d.Format, Text: []byte(*rec.Blank)}, false, nil
	case known:
		d, err = e.setInner(d, nil, inner)
	}
	return d, false, err
}

// goes reports whether a member that a file must have goes with our entries: it was put in
// with them, and no hooks that others put in since need it.
func (e *edit) goes(root *configtext.Node, name string, rec *fileRecord) bool {
	if rec == nil {
		return len(root.Members) == 1
	}
	hooks := root.Get("hooks")
	return rec.made(configtext.Names(name)) &&
		(hooks == nil || len(hooks.Members)+len(hooks.Items) == 0 || !rec.made(configtext.Names("hooks")))
}
