package loader

import (
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A scope is one place that hooks and settings come from: the machine's folder,
// the user's, the project's, and that of each project above it. Within a load
// the scopes stand in the order in which they rise: what a lower one says never
// changes what a higher one says.
type scope struct {
	layer protocol.Layer
	dir   string // the folder with hooks/ and the settings file; "" if the layer does not exist
	root  string // where its hooks start, and what their relative paths begin at

	// outer counts the projects between the innermost and this one: 0 for the
	// innermost, and for the other layers. prefix tells the names of an outer
	// project's hooks from those of the inner ones: "../../".
	outer  int
	prefix string

	project   string             // real path of the project, "" for another layer
	decisions *records.Decisions // about the project, or about the user layer
	elsewhere *records.Decisions // about the main checkout of which the project is a worktree
	mainRules bool               // the main checkout lies further up, and rules by itself
	always    bool               // hooks.trust.always names the project: its hooks run in place, unasked

	passed *workspace.PassedOver // of a project: why its folder does not count; nil if it does

	settings schema.LayerSettings // in force
	state    SettingsState        // of its file; "" without one
	waiting  *waitingSettings     // of a project: settings that nobody allowed; nil = none
	now      settings.File        // of a project: its settings file as it is
	bundle   *bundle.Bundle       // of now: what a person allows; nil if there is none that can be read
	own      *schema.Settings     // of this scope and those above it
}

// hooksDir is the folder that the scope's hook files lie in.
func (s *scope) hooksDir() string { return filepath.Join(s.dir, "hooks") }

// needsTrust reports whether nothing of the scope counts before a person allowed
// it.
func (s *scope) needsTrust() bool { return s.layer == protocol.Project && !s.always }

// trustCommand is what a person types to decide about the scope, wherever below it
// the work is done.
func (s *scope) trustCommand() string {
	if s.outer > 0 {
		return "hookd trust --project " + s.project
	}
	return "hookd trust"
}

func (s *scope) trustRemedy() string { return "look at it and allow it with: " + s.trustCommand() }

func (s *scope) goneRemedy() string {
	return "restore it, or accept the removal with: " + s.trustCommand()
}

// on reports whether the scope's own settings let its hooks run.
func (s *scope) on() bool { return s.own.Hooks.Enabled[s.layer] }

// discovers reports whether the files in the scope's hooks folder are taken.
func (s *scope) discovers() bool { return s.own.Hooks.Discover[s.layer] }

// scopes lists the scopes of a load, the lowest first.
func (l *loader) scopes() (scopes []*scope) {
	add := func(s *scope) {
		if s.decisions == nil {
			s.decisions = &records.Decisions{V: 1, Project: s.project}
		}
		scopes = append(scopes, s)
	}
	if l.Project != "" {
		add(&scope{layer: protocol.Project, project: l.Project, dir: filepath.Join(l.Project, workspace.FolderName), root: l.HooksRoot})
		for i, outer := range l.Outer {
			add(&scope{
				layer: protocol.Project, project: outer, dir: filepath.Join(outer, workspace.FolderName), root: outer,
				outer: i + 1, prefix: prefixOf(l.Project, outer),
			})
		}
	}
	user := &scope{layer: protocol.User, root: l.Root}
	if l.opts.Home != "" {
		user.dir = filepath.Join(l.opts.Home, workspace.FolderName)
	}
	add(user)
	add(&scope{layer: protocol.Managed, root: l.Root, dir: l.opts.managedDir()})
	return scopes
}

// prefixOf is the way from a project to one above it: ../../
func prefixOf(inner, outer string) string {
	way, err := filepath.Rel(inner, outer)
	if err != nil {
		return strings.TrimSuffix(outer, "/") + "/"
	}
	return filepath.ToSlash(way) + "/"
}

// projectScopes are the scopes of projects, the innermost first.
func (p *assembly) projectScopes() []*scope {
	var projects []*scope
	for _, s := range p.scopes {
		if s.layer == protocol.Project {
			projects = append(projects, s)
		}
	}
	return projects
}

// describing are the settings that say what a hook of the scope is: those in
// force for one that a person decided about, those that wait for any other.
func (s *scope) describing(name string) *schema.LayerSettings {
	if s.waiting != nil && (name == "" || s.recordOf(name) == nil) {
		return &s.waiting.settings
	}
	return &s.settings
}
