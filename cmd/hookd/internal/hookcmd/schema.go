package hookcmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/schema"
)

// Schema returns hookd schema.
func (cmd *Commands) Schema() *cobra.Command {
	return &cobra.Command{
		Use:       "schema " + strings.Join(schema.JSONNames, "|"),
		Short:     "Print a JSON Schema of an event, a reply, an outcome, the settings and more",
		Args:      cobra.ExactArgs(1),
		ValidArgs: schema.JSONNames,
		RunE: func(_ *cobra.Command, args []string) error {
			text := schema.JSON(args[0])
			if text == nil {
				return cli.Usage("usage", "there is no schema of "+args[0], "one of "+strings.Join(schema.JSONNames, ", "))
			}
			cmd.Console.Out.Raw(strings.TrimRight(string(text), "\n") + "\n")
			return nil
		},
	}
}
