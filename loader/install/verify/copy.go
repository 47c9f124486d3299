package verify

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// What is installed in a project is proved with a copy in the empty folder, which has
// nothing but our entries. The project itself may be anybody's: an agent that is started in
// it would run whatever its settings name.

var (
	errMoreWords = errors.New("the entries in the project have other words than hookd writes")
	errOtherFile = errors.New("its settings of the project are not of a kind that is copied")
)

// copyEntries writes our entries of a project to the empty folder. Their commands get the
// token, and not the agent: so no other installation can leave the mark.
func (p *proof) copyEntries(token string) error {
	below, err := filepath.Rel(p.v.Installer.Places.Project, p.s.installed.File)
	if err != nil || !filepath.IsLocal(below) || formatOf(below) != configtext.JSON {
		return errOtherFile
	}
	events := map[string][]any{}
	for _, h := range p.s.ours() {
		command, _ := install.ParseCommand(h.command)
		if command.Line(install.POSIX) != h.command || h.group == nil {
			return errMoreWords
		}
		entry, _ := plainValue(h.element).(map[string]any)
		entry["command"] = guest.MarkerVar + "=" + token + " " + h.command
		group, _ := plainValue(h.group).(map[string]any)
		group["hooks"] = []any{entry}
		events[h.event] = append(events[h.event], group)
	}
	text, err := json.Marshal(map[string]any{"hooks": events}, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("copy the entries: %w", err)
	}
	file := filepath.Join(p.dir, below)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// plainValue returns a value as package json writes it.
func plainValue(n *configtext.Node) any {
	switch n.Kind {
	case configtext.Object:
		members := map[string]any{}
		for _, m := range n.Members {
			members[m.Name] = plainValue(m.Value)
		}
		return members
	case configtext.List:
		items := make([]any, 0, len(n.Items))
		for _, item := range n.Items {
			items = append(items, plainValue(item))
		}
		return items
	case configtext.String:
		return n.Text
	case configtext.Bool:
		return n.Text == "true"
	case configtext.Number:
		return jsontext.Value(n.Text)
	}
	return nil
}
