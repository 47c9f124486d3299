package imports

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

// A Hook is one entry of another agent's settings, as that agent means it.
type Hook struct {
	Name    string // claude:PreToolUse:guard.sh; see names.go
	Called  string // the name that the entry itself gives it, "" for none
	Agent   string // whose settings name it, as in hooks.import
	Dialect string // whose protocol its program speaks
	Event   string // the agent's own name of the event; "" of a program that must be asked
	Pos     schema.Pos

	Shell string   // a command line for the agent's shell; "" for Argv
	Argv  []string // a program and its arguments, without a shell
	File  string   // a program of a hooks folder

	Matcher   string // as written, in the agent's own form; "" for everything
	When      string // what else must hold, as a condition of hookd's
	Timeout   time.Duration
	OnFailure string // "": the agent's own rule
	Observes  bool   // nobody waits for its answer
	Off       bool   // the settings switch it off

	Description string

	// Faulty says that a part of the entry cannot be read. It does not run, and refuses
	// where it could have refused.
	Faulty bool
}

// Scope is whose settings are read.
type Scope int

const (
	OfProject Scope = iota
	OfUser
)

// An Agent is one whose hooks can be imported.
type Agent struct {
	Name  string // as in hooks.import
	Title string

	// Files are its settings of each [Scope], below the project's root or the user's
	// home. A name with a * is every such file, in the order of the names.
	Files [2][]string
	// Folder is a folder of programs in place of settings, below the same; "" for none.
	Folder string
	// Unread are places from which the agent takes hooks too, and hookd does not.
	Unread [2][]string

	read func(r *reader, file *file)

	// once says that the agent runs two equal entries once.
	once bool
}

// A Text is one settings file as it was read.
type Text struct {
	File   string
	Format document.Format
	Bytes  []byte
}

// reader reads the files of one agent.
type reader struct {
	agent    *Agent
	hooks    []Hook
	findings []schema.Finding
}

// file is one file while it is read.
type file struct {
	path string
	root *document.Node
	bad  *schema.UnreadableError // nothing in it counts
	off  bool                    // it switches its hooks off
}

// RunsOnce reports whether the agent runs two equal entries once.
func (a *Agent) RunsOnce() bool { return a.once }

// protocol is what is known of the agent's hooks.
func (a *Agent) protocol() *foreignhooks.Agent { return foreignhooks.Find(a.Name) }

// FormatOf is the format of an agent's settings file, by its name.
func FormatOf(file string) document.Format {
	if strings.HasSuffix(file, ".toml") {
		return document.TOML
	}
	return document.JSONC
}

// Present returns the first of the agent's settings files below a folder in which hooks
// are, "" if there is none. It is for a hint, and judges nothing.
func (a *Agent) Present(scope Scope, folder string) string {
	if a.Folder != "" {
		if entries, _ := os.ReadDir(filepath.Join(folder, filepath.FromSlash(a.Folder))); len(entries) > 0 {
			return a.Folder
		}
	}
	for _, name := range a.Files[scope] {
		found, _ := filepath.Glob(filepath.Join(folder, filepath.FromSlash(name)))
		for _, file := range found {
			text, err := settings.ReadText(file)
			if err != nil {
				continue
			}
			if hooks, _, _ := a.Read([]Text{{File: file, Format: FormatOf(file), Bytes: text}}); len(hooks) > 0 {
				return strings.TrimPrefix(file, folder+string(filepath.Separator))
			}
		}
	}
	return ""
}
