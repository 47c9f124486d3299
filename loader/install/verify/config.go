package verify

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

type row = dialect.Row

// subject is one installation that is looked at.
type subject struct {
	verifier   *Verifier
	agent      *install.Agent
	installed  install.Installed
	found      install.Found
	hooks      []hook // all hooks in the agent's files of this scope, in order
	unreadable []badFile
}

type badFile struct {
	path string
	err  error
}

// hook is one hook in an agent's file.
type hook struct {
	event   string
	file    string
	line    int
	command string
	ours    bool
	element *configtext.Node // with command and time-out
	group   *configtext.Node // that holds it, nil where entries stand alone
}

// subject reads what the files of an agent's scope say.
func (v *Verifier) subject(a *install.Agent, scope install.Scope) *subject {
	s := &subject{verifier: v, agent: a, installed: v.Installer.StatusOf(a, scope)}
	for _, path := range a.Paths(v.Installer.Places, scope) {
		text, err := fsutil.ReadRegular(path, maxFile)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !isFolder(path) {
				s.unreadable = append(s.unreadable, badFile{path, err})
			}
			continue
		}
		root, err := configtext.Parse(formatOf(path), text)
		if err != nil || root == nil {
			continue // entries says so
		}
		s.hooks = append(s.hooks, hooksIn(path, root)...)
	}
	return s
}

// maxFile bounds a file that is read.
const maxFile = 16 << 20

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func formatOf(path string) configtext.Format {
	switch filepath.Ext(path) {
	case ".toml":
		return configtext.TOML
	case ".yaml", ".yml":
		return configtext.YAML
	}
	return configtext.JSON
}

// commandMembers are the names of the member that holds a hook's command line.
var commandMembers = []string{"command", "bash", "powershell", "exec"}

// hooksIn returns the hooks of a file in the order in which they stand: a command below
// hooks.EVENT, or below an event at the root.
func hooksIn(path string, root *configtext.Node) (hooks []hook) {
	events := root.Get("hooks")
	if events == nil {
		events = root
	}
	var walk func(event string, node, group *configtext.Node)
	walk = func(event string, node, group *configtext.Node) {
		if node == nil {
			return
		}
		for _, name := range commandMembers {
			if command := node.Get(name); command != nil && command.Kind == configtext.String {
				_, ours := install.ParseCommand(command.Text)
				hooks = append(hooks, hook{event, path, node.Line, command.Text, ours, node, group})
				return
			}
		}
		if inner := node.Get("hooks"); inner != nil {
			group = node
		}
		for _, item := range node.Items {
			of := event
			if of == "" {
				of = textOf(item.Get("trigger"))
			}
			walk(of, item, group)
		}
		for _, m := range node.Members {
			if m.Name == "action" { // the element is the one above
				if command := m.Value.Get("command"); command != nil && command.Kind == configtext.String {
					_, ours := install.ParseCommand(command.Text)
					hooks = append(hooks, hook{event, path, node.Line, command.Text, ours, node, group})
				}
				continue
			}
			if m.Name == "hooks" || event != "" {
				walk(event, m.Value, group)
			}
		}
	}
	if len(events.Items) > 0 {
		walk("", events, nil)
	}
	for _, m := range events.Members {
		if len(m.Value.Items)+len(m.Value.Members) > 0 {
			walk(m.Name, m.Value, nil)
		}
	}
	return hooks
}

func textOf(n *configtext.Node) string {
	if n == nil || n.Kind != configtext.String {
		return ""
	}
	return n.Text
}

// member returns a member of a hook's element or of the group that holds it.
func (h *hook) member(name string) *configtext.Node {
	if n := h.element.Get(name); n != nil {
		return n
	}
	return h.group.Get(name)
}

// ours are the hooks that start hookd.
func (s *subject) ours() (list []hook) {
	for _, h := range s.hooks {
		if h.ours {
			list = append(list, h)
		}
	}
	return list
}

// homePath returns a path below the person's home, or below the folder that a variable
// names.
func (s *subject) homePath(variable, folder string, below ...string) string {
	p := s.verifier.Installer.Places
	base := filepath.Join(p.Home, filepath.FromSlash(folder))
	if p.Getenv != nil && variable != "" {
		if named := p.Getenv(variable); filepath.IsAbs(named) {
			base = named
		}
	}
	return filepath.Join(append([]string{base}, below...)...)
}

// parse reads a configuration file, nil if it is not there or cannot be read.
func parse(path string) *configtext.Node {
	text, err := fsutil.ReadRegular(path, maxFile)
	if err != nil {
		return nil
	}
	root, err := configtext.Parse(formatOf(path), text)
	if err != nil {
		return nil
	}
	return root
}

// isSet reports whether a value is true.
func isSet(n *configtext.Node) bool { return n != nil && n.Kind == configtext.Bool && n.Text == "true" }

func isUnset(n *configtext.Node) bool {
	return n != nil && n.Kind == configtext.Bool && n.Text == "false"
}

// plainText returns a text in one line.
func plainText(text string) string { return strings.Join(strings.Fields(text), " ") }
