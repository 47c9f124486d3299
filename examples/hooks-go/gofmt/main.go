// Command gofmt is a hook that formats Go files after the agent wrote them, and
// tells the model when it did.
//
// A compiled hook has no comment header; gofmt.hook.yaml next to the program
// states its rules. Build:
//
//	go build -o .acai/hooks/gofmt ./examples/hooks-go/gofmt
//	cp examples/hooks-go/gofmt/gofmt.hook.yaml .acai/hooks/
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
)

type event struct {
	Cwd  string `json:"cwd"`
	Data struct {
		Args struct {
			Path string `json:"path"`
		} `json:"args"`
		Result struct {
			IsError bool `json:"isError"`
		} `json:"result"`
	} `json:"data"`
}

func main() {
	var e event
	err := json.NewDecoder(os.Stdin).Decode(&e)
	if err == nil {
		err = run(e)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(e event) error {
	path := e.Data.Args.Path
	if e.Data.Result.IsError || !strings.HasSuffix(path, ".go") {
		return nil // nothing on stdout is observe
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.Cwd, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	formatted, err := format.Source(source)
	if err != nil {
		return reply("gofmt cannot parse the file: " + err.Error())
	}
	if bytes.Equal(source, formatted) {
		return nil
	}
	if err := os.WriteFile(path, formatted, info.Mode().Perm()); err != nil {
		return err
	}
	return reply("the file was formatted with gofmt after this write; read it again before editing")
}

// reply adds text to what the model reads as the result of the call.
func reply(text string) error {
	return json.NewEncoder(os.Stdout).Encode(map[string]string{"action": "observe", "context": text})
}
