// Command scratchpath is a hook that moves the agent's scratch files from /tmp
// into the project's scratch folder: it rewrites the path before the tool runs.
//
// A compiled hook has no comment header; scratchpath.hook.yaml next to the
// program states its rules. Build:
//
//	go build -o .acai/hooks/scratchpath ./examples/hooks-go/scratchpath
//	cp examples/hooks-go/scratchpath/scratchpath.hook.yaml .acai/hooks/
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
)

type event struct {
	Data struct {
		Args struct {
			Path string `json:"path"`
		} `json:"args"`
	} `json:"data"`
}

func main() {
	var e event
	if err := json.NewDecoder(os.Stdin).Decode(&e); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Clean first, so that /tmp/../etc is not taken for a scratch file.
	name, isScratch := strings.CutPrefix(path.Clean(e.Data.Args.Path), "/tmp/")
	if !isScratch {
		return // nothing on stdout is observe
	}
	reply := map[string]any{
		"action": "modify",
		"changes": map[string]any{
			"args": map[string]any{"path": "scratch/" + name},
		},
		"context": "scratch files live in the project's scratch/ folder; the path was changed",
	}
	if err := json.NewEncoder(os.Stdout).Encode(reply); err != nil {
		os.Exit(1)
	}
}
