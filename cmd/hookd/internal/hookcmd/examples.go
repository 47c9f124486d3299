package hookcmd

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/examples"
)

// Examples makes hookd examples, which writes what the pages copy from, for a person who has the program
// and not the repository.
func (cmd *Commands) Examples() *cobra.Command {
	return &cobra.Command{
		Use:   "examples FOLDER",
		Short: "Write hooks, skills, recipes and projects to copy from to a new folder",
		Long: `Write the examples to FOLDER, which must not exist: hooks, skills, recipes, an MCP
server, and two projects whose scripted model needs no key. Nothing of them counts
until you copy it to a place where hookd looks.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			folder, err := filepath.Abs(args[0])
			if err != nil {
				return cli.Failed("examples", err, "")
			}
			if err := examples.Write(folder); errors.Is(err, fs.ErrExist) {
				return cli.Usage("exists", folder+" is there already", "name a folder that does not exist, or use what is there")
			} else if err != nil {
				return cli.Failed("examples", err, "")
			}
			cmd.Console.Out.Print("wrote %s\n", cmd.Console.Out.In(show.Name, show.Line(folder)))
			entries, err := fs.ReadDir(examples.Files, ".")
			if err != nil {
				return cli.Failed("examples", err, "")
			}
			for _, entry := range entries {
				cmd.Console.Out.Print("  %s\n", entry.Name())
			}
			return nil
		},
	}
}
