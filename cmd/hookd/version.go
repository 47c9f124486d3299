package main

import (
	"runtime"
	"runtime/debug"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/protocol"
)

// version is set at link time by releases.
var version = ""

func newVersion(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "version",
		Short: "print the version and the protocol it speaks",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionName()
			if a.json {
				line, err := json.Marshal(struct {
					Version  string `json:"version"`
					Protocol int    `json:"protocol"`
					Go       string `json:"go"`
					Platform string `json:"platform"`
				}{v, protocol.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
				if err != nil {
					return err
				}
				a.out.Print("%s\n", line)
				return nil
			}
			a.out.Print("hookd %s (protocol %d, %s/%s, %s)\n", v, protocol.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			return nil
		},
	}
	a.jsonFlag(c)
	return c
}

func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
