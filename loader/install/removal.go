package install

import (
	"bytes"
	"errors"

	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// PlanRemoval works out what taking hookd out of an agent changes.
func (in *Installer) PlanRemoval(a *Agent, s Scope) (*Plan, error) {
	if err := in.Places.scope(a, s); err != nil {
		return nil, err
	}
	known, err := in.store().records()
	if err != nil {
		return nil, err
	}
	p := &Plan{Agent: a, Scope: s, Removal: true}
	if err := in.removeAll(p, known); err != nil {
		return nil, err
	}
	return p, in.Places.contains(p)
}

// removeAll plans the removal from every file of the plan's agent and scope.
func (in *Installer) removeAll(p *Plan, known *records) error {
	a := p.Agent
	if a.layout.style == scripts {
		return in.removeScripts(p, a, p.Scope, known)
	}
	for _, f := range a.layout.files(in.Places, p.Scope) {
		var err error
		if a.layout.style == plugin {
			err = in.removeOwn(p, a, f.path, known)
		} else {
			err = in.removeFrom(p, a, f, known)
		}
		if err != nil {
			return err
		}
	}
	if a.layout.also != nil && p.Changes() {
		for path := range a.layout.also(in.Places, p.Scope) {
			if err := in.removeOwn(p, a, path, known); err != nil {
				return err
			}
		}
	}
	return nil
}

// openOurs opens a file that something of ours may be in. What stands in its place and is no
// file, such as a link that leads nowhere, is as if it were not there.
func openOurs(path string) (*Change, error) {
	c, err := open(path)
	if none := noFile(""); errors.As(err, &none) {
		return &Change{Path: path, Real: path}, nil
	}
	return c, err
}

func (in *Installer) removeFrom(p *Plan, a *Agent, f file, known *records) error {
	c, err := openOurs(f.path)
	if err != nil || !c.Exists {
		return err
	}
	old := known.find(c.Real)
	d, err := configtext.Read(f.format, c.Before)
	if err != nil {
		if old == nil && !bytes.Contains(c.Before, []byte("hookd")) {
			return nil // whatever it is, nothing in it is ours
		}
		return explain(c.Path, err)
	}
	entries := a.entriesIn(d.Root)
	if len(entries) == 0 {
		return nil
	}
	edit := edit{in: in, agent: a, file: f, old: old}
	base, gone, err := edit.strip(d, old)
	if err != nil {
		return explain(c.Path, err)
	}
	for _, e := range entries {
		p.Events = append(p.Events, e.Event)
	}
	if c.After, c.Delete = base.Text, gone; gone {
		c.After = nil
	}
	c.record = old
	p.Files = append(p.Files, *c)
	return nil
}
