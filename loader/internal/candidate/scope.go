package candidate

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A Scope is one place that hooks and settings come from: the machine's folder,
// the user's, the project's, and that of each project above it. Within a load
// the scopes stand in the order in which they rise: what a lower one says never
// changes what a higher one says.
type Scope struct {
	Layer protocol.Layer
	Dir   string // the folder with hooks/ and the settings file; "" if the layer does not exist
	Root  string // where its hooks start, and what their relative paths begin at

	// Outer counts the projects between the innermost and this one: 0 for the
	// innermost, and for the other layers. Prefix stands before the names of an outer
	// project's hooks, so that no inner hook has the same name: "../../".
	Outer  int
	Prefix string

	Project string // real path of the project, "" for another layer
	Decided Decided
	Ignored *workspace.IgnoredFolder // of a project: why its folder does not count; nil if it does

	File SettingsFile
	Own  *schema.Settings // of this scope and those above it
}

// Decided is what a person decided about a scope.
type Decided struct {
	Here      *records.Decisions // about the project, or about the user layer
	InMain    *records.Decisions // about the main checkout of which the project is a worktree
	MainRules bool               // the main checkout lies further up, and counts by itself
	Always    bool               // hooks.trust.always names the project: its hooks run in place, unasked
}

// SettingsFile is what a scope's settings file says, and what of it counts.
type SettingsFile struct {
	InForce schema.LayerSettings
	State   SettingsState    // "" without a file
	Waiting *WaitingSettings // of a project: settings that nobody allowed; nil = none
	Now     settings.File    // of a project: the file as it is
	Bundle  *bundle.Bundle   // of now: what a person allows; nil if there is none that can be read
}

// LeadsOut returns where a file of a project leads if it is a link out of the project, ""
// for any other. Such a file does not count, and nothing of it is shown: who wrote the
// project would else say which of the person's own files are read.
func (s *Scope) LeadsOut(file string) string {
	if s.Layer != protocol.Project {
		return ""
	}
	if st, err := files.Lstat(file); err != nil || st.Mode&fs.ModeSymlink == 0 {
		return ""
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil || files.Within(files.RealPath(s.Root), real) || files.Within(files.RealPath(s.Dir), real) {
		return ""
	}
	return real
}

// What is said about a file that leads out of its project, before where it leads.
const (
	LinkOut       = "the link leads out of the project, to "
	LinkOutRemedy = "put the file itself there"
)

// HooksDir is the folder that the scope's hook files lie in.
func (s *Scope) HooksDir() string { return filepath.Join(s.Dir, "hooks") }

// NeedsTrust reports whether nothing of the scope counts before a person allowed
// it.
func (s *Scope) NeedsTrust() bool { return s.Layer == protocol.Project && !s.Decided.Always }

// TrustCommand is what a person types to decide about the scope, wherever below it
// the work is done.
func (s *Scope) TrustCommand() string {
	if s.Outer > 0 {
		return "hookd trust --project " + s.Project
	}
	return "hookd trust"
}

// TrustRemedy tells a person how to allow something of the scope.
func (s *Scope) TrustRemedy() string { return "look at it and allow it with: " + s.TrustCommand() }

// GoneRemedy tells a person what to do about something that vanished.
func (s *Scope) GoneRemedy() string {
	return "restore it, or accept the removal with: " + s.TrustCommand()
}

// On reports whether the scope's own settings let its hooks run.
func (s *Scope) On() bool { return s.Own.Hooks.Enabled[s.Layer] }

// Discovers reports whether the files in the scope's hooks folder are taken.
func (s *Scope) Discovers() bool { return s.Own.Hooks.Discover[s.Layer] }

// PrefixOf is the way from a project to one above it: ../../
func PrefixOf(inner, outer string) string {
	way, err := filepath.Rel(inner, outer)
	if err != nil {
		return strings.TrimSuffix(outer, "/") + "/"
	}
	return filepath.ToSlash(way) + "/"
}

// Describing are the settings that say what a hook of the scope is: those in
// force for one that a person decided about, those that wait for any other.
func (s *Scope) Describing(name string) *schema.LayerSettings {
	if s.File.Waiting != nil && (name == "" || s.Decided.RecordOf(name) == nil) {
		return &s.File.Waiting.Settings
	}
	return &s.File.InForce
}

// Inherited is the record of something that was allowed in the main checkout, and
// that nobody decided about in the worktree; nil if there is none. Where the main
// checkout is one of the projects further up, it counts by itself.
func (d *Decided) Inherited(name string) *records.Record {
	if d.InMain == nil || d.Here.Find(name) != nil || d.MainRules {
		return nil
	}
	if r := d.InMain.Find(name); r != nil && r.Decision == records.Allowed {
		return r
	}
	return nil
}

// RecordOf is the decision about something of a scope, made there or inherited.
func (d *Decided) RecordOf(name string) *records.Record {
	if r := d.Here.Find(name); r != nil {
		return r
	}
	return d.Inherited(name)
}

// AnyAllowed reports whether anything of a scope was allowed, there or in its main
// checkout.
func (d *Decided) AnyAllowed() bool {
	return d.Here.AnyAllowed() || d.InMain != nil && d.InMain.AnyAllowed()
}

// DeniedHere reports whether something was denied in a worktree that its main checkout
// allowed.
func (d *Decided) DeniedHere(name string) bool {
	if d.InMain == nil {
		return false
	}
	here, there := d.Here.Find(name), d.InMain.Find(name)
	return here != nil && here.Decision == records.Denied && there != nil && there.Decision == records.Allowed
}

// RelativeTo is the folder that relative paths in a scope's settings mean.
func (s *Scope) RelativeTo() string {
	if s.Layer == protocol.Project {
		return s.Root
	}
	return s.Dir
}

// FromSettings returns the words of a command with those that mean a file beside
// the settings of user or machine made absolute: what starts elsewhere would not
// find it.
func (s *Scope) FromSettings(words []string) []string {
	words = slices.Clone(words)
	dir := s.RelativeTo()
	if s.Layer == protocol.Project || dir == "" {
		return words
	}
	for i, word := range words {
		before, path := interpreter.OptionPath(word)
		if filepath.IsAbs(path) || path == "" || strings.HasPrefix(path, "-") || i == 0 && filepath.Base(path) == path {
			continue
		}
		where := filepath.Join(dir, path)
		st, err := files.Stat(where)
		written := strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../")
		if written || err == nil && (st.Mode.IsRegular() || strings.ContainsRune(path, '/')) {
			words[i] = before + where
		}
	}
	return words
}

// SettingsRecord is the name of a project's settings in the trust records. No
// hook can have it: a hook's name has no slash.
const SettingsRecord = "settings/acai"

// WaitingSettings are settings of a project that nobody allowed. They have no
// effect; but a guard that they name must not be merely absent.
type WaitingSettings struct {
	Settings schema.LayerSettings
	File     string
}

// SettingsState says whether a settings file counts.
type SettingsState string

const (
	SettingsInForce    SettingsState = "in-force"
	SettingsUntrusted  SettingsState = "untrusted"  // nothing of it has an effect
	SettingsChanged    SettingsState = "changed"    // the copy that was allowed is in force
	SettingsGone       SettingsState = "gone"       // so it is
	SettingsDenied     SettingsState = "denied"     // nothing of it has an effect
	SettingsUnreadable SettingsState = "unreadable" // the last good ones are in force, or every gate is refused
)
