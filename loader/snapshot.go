package loader

import (
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/records"
	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/loader/internal/workspace"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Snapshot is what one load found: the set of hooks that rules from now on, and
// everything a person should know about it.
type Snapshot struct {
	Set      *executor.Set
	Project  string // real path of the project, "" without one
	Hooks    []Info // in running order, as in Set
	Findings []schema.Finding

	// Resources are the skills, recipes, MCP servers and instructions of all layers. The
	// settings of Set hold the servers that may be started, and no other.
	Resources []Resource

	// Settings are the settings files of all layers, the lowest first.
	Settings []SettingsInfo

	// Unallowed are the names of the project's hooks that are absent because nobody
	// allowed them: the person is told so once per project and process.
	Unallowed []string
	// UnallowedResources are such skills, recipes, servers and instructions, as kind and name.
	UnallowedResources []string

	halfWritten       bool      // something looked half-written
	changedDuringLoad bool      // something changed since it was looked at: parts may be from before the change, others from after it
	recheck           time.Time // when to look again although nothing happens; zero = never
	inputs            files.Inputs
}

// LeadsOut returns where a file of the project leads if it is a link out of the project, ""
// for any other. Nothing of such a file is shown.
func (s *Snapshot) LeadsOut(file string) string {
	if s.Project == "" || !files.Within(s.Project, file) {
		return ""
	}
	scope := candidate.Scope{Layer: protocol.Project, Root: s.Project, Dir: filepath.Join(s.Project, workspace.FolderName)}
	return scope.LeadsOut(file)
}

// Info is what is known of a hook beyond what the executor needs.
type Info struct {
	*executor.Hook
	DescribedBy schema.Source // which source named the events, "" if none did
	Runs        string        // path of what is executed, "" if nothing is
	InPlace     bool          // Runs is the original, not a private copy
	Tests       *schema.Tests // those that its entry carries, nil if it has none
	Pack        string        // path of the file of rules that it stands in, "" of any other hook; see [PackName]

	project string // whose decisions are about it, "" for the user layer
	base    string // its name there
}

// SettingsInfo is what is known of one settings file.
type SettingsInfo struct {
	Layer protocol.Layer
	File  string
	State candidate.SettingsState
	Hash  string // of the file as it is: what a person would allow; "" if nothing needs that
}

// A Resource is what a layer holds for the agent loop besides its hooks. One of a
// project may be used only if a person allowed it (docs/trust.md): a skill
// and a recipe speak to the model, a server runs.
type Resource struct {
	Kind   records.Kind    `json:"kind"`
	Name   string          `json:"name"`
	Layer  protocol.Layer  `json:"source"`
	Path   string          `json:"path"`   // where it was written; of a server the settings file
	Hash   string          `json:"hash"`   // of the bundle; "" of one that cannot be used
	Status executor.Status `json:"status"` // ready untrusted changed broken disabled
	Why    string          `json:"why"`    // for any status but ready

	Unwatched    []string `json:"unwatched,omitzero"` // code of the project that it runs and that nobody allowed, in words
	KnowsProject bool     `json:"given,omitzero"`     // a server of user or machine whose settings name the project's folder

	// Use is the file to read: the private copy of a project's, the original of
	// other layers. It is "" for a server and for what may not be used.
	Use string `json:"-"`
	// Files are the further files of a skill that is a folder, relative to the
	// folder of Use, with slashes between parts.
	Files []string `json:"-"`
}

// resourceOf returns a resource as the snapshot shows it.
func resourceOf(f *trust.DecidedResource) Resource {
	m := Resource{Kind: f.Kind, Name: f.Title, Layer: f.Scope.Layer, Path: f.Path, Status: f.Status, Why: f.Why, Unwatched: f.Unwatched, KnowsProject: f.KnowsProject}
	if m.Status == "" {
		m.Status = executor.Ready
	}
	if f.Bundle != nil {
		m.Hash = f.Bundle.Hash
	}
	if f.Run != "" && f.Kind != records.KindServer {
		m.Use, m.Files = f.Run, filesOf(f.Resource)
	}
	return m
}

// filesOf returns the names of a resource's files but the first.
func filesOf(f *candidate.Resource) []string {
	var names []string
	for _, m := range f.Bundle.Members {
		if name, below := strings.CutPrefix(m.Name, path.Dir(f.Base)+"/"); below && m.Name != f.Base {
			names = append(names, name)
		}
	}
	return names
}

// settingsInfo returns what the snapshot says of the scope's settings file.
func settingsInfo(s *candidate.Scope) SettingsInfo {
	info := SettingsInfo{Layer: s.Layer, File: s.File.Now.Path, State: s.File.State}
	if info.File == "" {
		info.File = s.File.InForce.File
	}
	if s.File.Now.Bad != nil {
		info.File = s.File.Now.Bad.File
	}
	if info.File == "" && info.State != "" && s.Dir != "" { // denied, and gone
		info.File = filepath.Join(s.Dir, settings.Names[0])
	}
	if s.File.Bundle != nil {
		info.Hash = s.File.Bundle.Hash
	}
	return info
}

// equal reports whether everything that two snapshots show, and all that rules an event,
// is equal. Their generations may differ.
func (s *Snapshot) equal(other *Snapshot) bool {
	ownSettings := map[[2]*schema.HookSettings]bool{} // all hooks of a scope have the same
	equalOwn := func(a, b *schema.HookSettings) bool {
		equal, known := ownSettings[[2]*schema.HookSettings{a, b}]
		if !known {
			equal = reflect.DeepEqual(a, b)
			ownSettings[[2]*schema.HookSettings{a, b}] = equal
		}
		return equal
	}
	equalHooks := func(a, b Info) bool { return equalOwn(a.Own, b.Own) && equalInfo(a, b) }
	return s.Set.ManagedHash == other.Set.ManagedHash &&
		reflect.DeepEqual(s.Set.Refuse, other.Set.Refuse) &&
		reflect.DeepEqual(s.Set.Settings, other.Set.Settings) &&
		slices.EqualFunc(s.Hooks, other.Hooks, equalHooks) &&
		reflect.DeepEqual(s.Resources, other.Resources) &&
		slices.Equal(s.Settings, other.Settings) &&
		reflect.DeepEqual(s.Findings, other.Findings)
}

// equalInfo compares what is known of two hooks, but for the settings of their scopes.
// The way to ask a hook is left out: each load makes it anew, of what is compared.
func equalInfo(a, b Info) bool {
	return a.Hash == b.Hash && a.Status == b.Status && a.Why == b.Why && a.Runs == b.Runs &&
		a.InPlace == b.InPlace && reflect.DeepEqual(a.Imported, b.Imported) && a.DescribedBy == b.DescribedBy && a.SwitchedOff == b.SwitchedOff &&
		reflect.DeepEqual(a.Fault, b.Fault) && reflect.DeepEqual(&a.Hook.Hook, &b.Hook.Hook)
}
