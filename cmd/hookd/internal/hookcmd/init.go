package hookcmd

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
)

// settingsTemplate is a settings file that changes nothing, ready to be filled.
const settingsTemplate = `{
  "hooks": {
    "use": []
  }
}
`

// Init returns hookd init.
func (cmd *Commands) Init() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Create .acai/hooks and a settings file",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			root, err := cmd.Project.WriteFolder()
			if err != nil {
				return err
			}
			folder := filepath.Join(root, ".acai")
			if err := os.MkdirAll(filepath.Join(folder, "hooks"), 0o755); err != nil {
				return cli.Failed("init", err, "")
			}
			cmd.Console.Out.Print("%s  your hooks go here\n", cmd.Console.Out.In(show.Name, show.Line(filepath.Join(folder, "hooks"))))
			settings, made, err := makeSettings(folder)
			if err != nil {
				return cli.Failed("init", err, "")
			}
			note := "was there already"
			if made {
				note = "settings, see hookd schema settings"
			}
			cmd.Console.Out.Print("%s  %s\n", cmd.Console.Out.In(show.Name, show.Line(settings)), note)
			if home, err := os.UserHomeDir(); err == nil && home == root {
				cmd.Console.Out.Print("this is your home folder: its hooks belong to you in every project and need no trust\n")
			}
			cmd.noteImportables(root)
			cmd.Console.Out.Print("next: hookd new guard.sh --lang sh\n")
			return cmd.counts()
		},
	}
}

// noteImportables says which other agents the project has hooks for, and how they are taken.
func (cmd *Commands) noteImportables(root string) {
	for _, other := range loader.Importables(root) {
		cmd.Console.Out.Print("%s has hooks for %s; to have them asked here too: \"hooks\": {\"import\": [\"%s\"]} in .acai/acai.json\n", show.Line(other.File), other.Title, other.Agent)
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
	return path, true, createFile(path, settingsTemplate, 0o644)
}

// createFile writes a new file and never replaces one.
func createFile(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
