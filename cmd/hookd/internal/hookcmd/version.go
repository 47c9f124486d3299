package hookcmd

import (
	"runtime"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/protocol"
)

// Version returns hookd version.
func (cmd *Commands) Version() *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version and the protocol it speaks",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := cmd.Release()
			if cmd.Console.JSON {
				line, err := json.Marshal(struct {
					Version  string `json:"version"`
					Protocol int    `json:"protocol"`
					Go       string `json:"go"`
					Platform string `json:"platform"`
				}{v, protocol.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
				if err != nil {
					return err
				}
				cmd.Console.Out.Print("%s\n", line)
				return nil
			}
			cmd.Console.Out.Print("hookd %s (protocol %d, %s/%s, %s)\n", v, protocol.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		},
	}
	cmd.Console.JSONFlag(c)
	return c
}
