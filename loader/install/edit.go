package install

import (
	"errors"
	"path/filepath"
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
	root, err := configtext.Parse(e.file.format, c.Before)
	if err != nil {
		return err
	}
	commands := make(map[string]string, len(events))
	for _, event := range events {
		commands[event.Name] = e.in.commandLine(r, event)
	}
	if e.upToDate(root, events, commands) {
		c.After, c.record = c.Before, e.old
		return nil
	}
	base, gone, err := e.strip(c.Before, e.old)
	if err != nil {
		return err
	}
	c.base = base
	rec := c.record
	rec.Created = !c.Exists || gone
	if e.old != nil {
		rec.Folders = e.old.Folders
	}
	if !rec.Created {
		rec.Before = hashOf(base)
	}
	after, err := e.insert(base, rec, events, commands)
	if err != nil {
		return err
	}
	c.After, rec.After = after, hashOf(after)
	return e.check(base, after, rec, len(events))
}

// insert adds the entries to a text that has none of them, and notes in the record what
// was not there.
func (e *edit) insert(base []byte, rec *fileRecord, events []Event, commands map[string]string) ([]byte, error) {
	root, err := configtext.Parse(e.file.format, base)
	if err != nil {
		return nil, err
	}
	text := base
	if e.file.format == configtext.JSON {
		for _, m := range e.agent.layout.root {
			if path := configtext.Names(m.name); root.Get(m.name) == nil {
				rec.note(e.file.format, base, path)
				if text, err = configtext.Set(text, path, m.value); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, event := range events {
		path := e.agent.listPath(root, event.Name)
		rec.note(e.file.format, base, path)
		if text, err = configtext.Add(e.file.format, text, path, e.agent.element(event, commands[event.Name])); err != nil {
			return nil, err
		}
	}
	return text, nil
}

var errUnclear = errors.New("hookd cannot add its entries to this file without changing others")

// check makes sure that the new text is the old one and our entries, and nothing else.
func (e *edit) check(base, after []byte, rec *fileRecord, events int) error {
	root, err := configtext.Parse(e.file.format, after)
	if err != nil || len(e.agent.entriesIn(root)) != events {
		return errUnclear
	}
	unhashed := *rec
	unhashed.After = ""
	stripped, _, err := e.strip(after, &unhashed)
	if err != nil {
		return errUnclear
	}
	was, err1 := configtext.Parse(e.file.format, base)
	is, err2 := configtext.Parse(e.file.format, stripped)
	if err1 != nil || err2 != nil || !configtext.Same(orEmpty(was), orEmpty(is)) {
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
		if !slices.ContainsFunc(entries, func(entry Entry) bool {
			return e.agent.sameEvent(entry.Event, event.Name) && configtext.Same(entry.value, want)
		}) {
			return false
		}
	}
	return true
}

// strip returns a text without our entries, as it was before they were put in. gone says
// that there was no file then, and nothing that others put in since.
func (e *edit) strip(text []byte, rec *fileRecord) (base []byte, gone bool, err error) {
	if rec != nil && rec.After != "" && rec.After == hashOf(text) {
		if rec.Created {
			return []byte{}, true, nil
		}
		if before := e.in.before(rec); before != nil {
			return before, false, nil
		}
	}
	base = text
	for {
		root, err := configtext.Parse(e.file.format, base)
		if err != nil {
			return nil, false, err
		}
		entries := e.agent.entriesIn(root)
		if len(entries) == 0 {
			return e.finish(base, root, rec)
		}
		if base, err = e.takeOut(base, entries[len(entries)-1].path, rec); err != nil {
			return nil, false, err
		}
	}
}

// takeOut removes one entry, and what it leaves empty.
func (e *edit) takeOut(text []byte, path configtext.Path, rec *fileRecord) ([]byte, error) {
	if len(path) > 2 && path[len(path)-2].Name == "hooks" && path[len(path)-3].Name == "" {
		// The last handler of a group: the group goes.
		list, err := configtext.Find(e.file.format, text, path.Parent())
		if err != nil {
			return nil, err
		}
		if len(list.Items) == 1 {
			path = path.Parent().Parent()
		}
	}
	for {
		var err error
		if text, err = configtext.Remove(e.file.format, text, path); err != nil {
			return nil, err
		}
		path = path.Parent()
		left, err := configtext.Find(e.file.format, text, path)
		if err != nil {
			return nil, err
		}
		if left != nil && len(left.Items)+len(left.Members) > 0 || len(path) == 0 {
			return text, nil
		}
		if left == nil {
			return text, nil // TOML has no empty list of tables
		}
		if rec == nil || rec.made(path) {
			continue
		}
		inner, known := rec.inner(path)
		if !known && e.file.format == configtext.YAML {
			continue
		}
		return e.setInner(text, path, inner)
	}
}

// setInner puts the blanks back that stood between brackets. Remarks are not touched: the
// person may have written others since.
func (e *edit) setInner(text []byte, path configtext.Path, inner string) ([]byte, error) {
	now, _ := configtext.Inner(e.file.format, text, path)
	if e.file.format == configtext.JSON && strings.TrimSpace(now) != strings.TrimSpace(inner) {
		return text, nil
	}
	return configtext.SetInner(e.file.format, text, path, inner)
}

// finish takes away what else was put in: members that a file must have, and the document
// of a file that had none.
func (e *edit) finish(text []byte, root *configtext.Node, rec *fileRecord) (base []byte, gone bool, err error) {
	if e.file.format != configtext.JSON {
		return text, rec != nil && rec.Created && strings.TrimSpace(string(text)) == "", nil
	}
	if root != nil && e.onlyOurs(root, rec) {
		for _, m := range e.agent.layout.root {
			if root.Get(m.name) == nil {
				continue
			}
			if text, err = configtext.Remove(e.file.format, text, configtext.Names(m.name)); err != nil {
				return nil, false, err
			}
		}
		if root, err = configtext.Parse(e.file.format, text); err != nil {
			return nil, false, err
		}
	}
	if root == nil || len(root.Members) > 0 || root.Kind != configtext.Object {
		return text, false, nil
	}
	if rec == nil {
		return text, strings.HasPrefix(filepath.Base(e.file.path), "hookd."), nil
	}
	inner, known := rec.inner(nil)
	switch {
	case rec.Created:
		return []byte{}, true, nil
	case rec.Blank != nil:
		return []byte(*rec.Blank), false, nil
	case known:
		text, err = e.setInner(text, nil, inner)
	}
	return text, false, err
}

// onlyOurs reports whether nothing but members that we put in is left in a file.
func (e *edit) onlyOurs(root *configtext.Node, rec *fileRecord) bool {
	for _, m := range root.Members {
		if !slices.ContainsFunc(e.agent.layout.root, func(r rootMember) bool {
			return r.name == m.Name && (rec == nil || rec.made(configtext.Names(m.Name)))
		}) {
			return false
		}
	}
	return true
}
