package hookcmd

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/schema"
)

// schemaFile is the JSON Schema of the settings, next to them. An editor reads it from there
// without the network.
const schemaFile = "acai.schema.json"

// settingsTemplate is a settings file that changes nothing, ready to be filled.
const settingsTemplate = `{
  "$schema": "./` + schemaFile + `",
  "hooks": {
    "use": []
  }
}
`

// schemaLine names the schema in a settings file, by the file's ending, for the editors that
// read such a file.
var schemaLine = map[string]string{
	".json": `"$schema": "./` + schemaFile + `"`,
	".yaml": `# yaml-language-server: $schema=` + schemaFile,
	".toml": `#:schema ./` + schemaFile,
}

// Init returns hookd init.
func (cmd *Commands) Init() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Create .acai/hooks and a settings file, and name the agents that are here",
		Long: `Create .acai/hooks and a settings file in this folder, with a JSON Schema next to it
by which editors complete the settings. It asks nothing, and replaces no file but a
schema of another version. Agents on this machine are named with the command that has
them run the hooks, too; init itself changes none of their files.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			root, err := cmd.Project.WriteFolder()
			if err != nil {
				return err
			}
			if err := cmd.makeFolder(root); err != nil {
				return err
			}
			if home, err := os.UserHomeDir(); err == nil && home == root {
				cmd.Console.Out.Print("this is your home folder: its hooks belong to you in every project and need no trust\n")
			}
			cmd.noteImportables(root)
			cmd.noteAgents(c.Context(), root)
			cmd.Console.Out.Print("next: %s\n", cmd.Console.Out.In(show.Name, "hookd new guard.sh --lang sh"))
			return cmd.Project.InForce()
		},
	}
}

// makeFolder makes .acai with what belongs in it, and says what was made.
func (cmd *Commands) makeFolder(root string) error {
	folder := filepath.Join(root, ".acai")
	hooks := filepath.Join(folder, "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		return cli.Failed("init", err, "")
	}
	settings, made, err := makeSettings(folder)
	if err != nil {
		return cli.Failed("init", err, "")
	}
	forEditors, err := makeSchema(folder)
	if err != nil {
		return cli.Failed("init", err, "")
	}
	note := "settings; hookd schema settings prints all keys"
	if !made {
		note = "settings, which were there already"
	}
	paths := []string{cmd.shown(hooks), cmd.shown(settings), cmd.shown(filepath.Join(folder, schemaFile))}
	widest := 0
	for _, path := range paths {
		widest = max(widest, show.Width(path))
	}
	for i, what := range []string{"your hooks go here", note, forEditors} {
		cmd.Console.Out.Print("%s%s  %s\n", cmd.Console.Out.In(show.Name, paths[i]), strings.Repeat(" ", widest-show.Width(paths[i])), what)
	}
	if text := readPlain(settings); text != nil && !bytes.Contains(text, []byte(schemaFile)) {
		cmd.Console.Out.Print("for an editor that completes them, add to %s: %s\n", cmd.shown(settings), schemaLine[filepath.Ext(settings)])
	}
	return nil
}

// shown is a path as the person would type it: from the working directory where it lies
// below that.
func (cmd *Commands) shown(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if below, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(below) {
			path = below
		}
	}
	return show.Line(path)
}

// noteImportables says which other agents the project has hooks for, and how they are taken.
func (cmd *Commands) noteImportables(root string) {
	for _, other := range loader.Importables(root) {
		cmd.Console.Out.Print("%s has hooks for %s; to have them asked here too: \"hooks\": {\"import\": [\"%s\"]} in .acai/acai.json\n", show.Line(other.File), other.Title, other.Agent)
	}
}

// noteAgents names the agents on this machine, with the command that puts hookd into each.
// None of them is started.
func (cmd *Commands) noteAgents(ctx context.Context, root string) {
	state, err := places.StateDir()
	if err != nil {
		return
	}
	in, err := install.Here(state, root)
	if err != nil {
		return // without a home there is nothing to install into
	}
	installed := in.Status()
	found := in.Detect(ctx, nil, os.Environ())
	if len(found) == 0 {
		return
	}
	cmd.Console.Out.Print("agents on this machine that can run these hooks:\n")
	for _, agent := range found {
		title := "  " + agent.Agent.Title + strings.Repeat(" ", max(0, 20-len(agent.Agent.Title)))
		runs := slices.ContainsFunc(installed, func(i install.Installed) bool { return i.Agent == agent.Agent && len(i.Entries) > 0 })
		if runs {
			cmd.Console.Out.Print("%s  does so already: hookd verify %s\n", title, agent.Agent.Name)
		} else {
			cmd.Console.Out.Print("%s  %s\n", title, cmd.Console.Out.In(show.Name, "hookd install "+agent.Agent.Name))
		}
	}
}

// makeSettings writes a settings file unless there is one of any format.
func makeSettings(folder string) (path string, made bool, err error) {
	for _, name := range []string{"acai.json", "acai.yaml", "acai.toml"} {
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); err == nil {
			return path, false, nil
		}
	}
	path = filepath.Join(folder, "acai.json")
	return path, true, places.CreateFile(path, settingsTemplate, 0o644)
}

// makeSchema writes the schema of the settings and says what it did. One that another
// version of hookd wrote is replaced: it is generated. Any other file stays.
func makeSchema(folder string) (note string, err error) {
	path, text := filepath.Join(folder, schemaFile), schema.JSON("settings")
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "by which your editor completes them", places.CreateFile(path, string(text), 0o644)
	}
	if err != nil {
		return "", err
	}
	old := readPlain(path)
	switch {
	case bytes.Equal(old, text):
		return "by which your editor completes them", nil
	case !bytes.Contains(old, []byte(`"title": "hookd settings"`)):
		return "is not hookd's, and stays as it is", nil
	}
	return "by which your editor completes them, renewed for this hookd", fsutil.ReplaceSame(path, text, there, 0o644, func() error { return nil })
}

// mostRead is the size of the largest file that init looks into.
const mostRead = 1 << 20

// readPlain returns the contents of a regular file of a usual size, nil of anything else: a
// project may hold a link or a pipe by that name.
func readPlain(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostRead {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}
