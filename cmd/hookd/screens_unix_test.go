//go:build unix && !lean

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/test/golden"
)

// What a newcomer sees first looks as it should, at the widths of usual terminals. The
// screens are below testdata: look at them after a change, -update writes them.
func TestFirstScreens(t *testing.T) {
	home, programs := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("PATH", programs)
	for _, agent := range []string{"claude", "gemini"} {
		if err := os.WriteFile(filepath.Join(programs, agent), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, width := range []int{40, 80, 120} {
		for name, args := range map[string][]string{
			"hookd": {}, "help": {"--help"}, "log-help": {"log", "--help"}, "init": {"init"},
		} {
			t.Run(name+"-"+strconv.Itoa(width), func(t *testing.T) {
				t.Chdir(t.TempDir())
				sameScreen(t, width, args)
			})
		}
	}
}

// sameScreen compares what a command prints with the screen in the file of the test's name.
func sameScreen(t *testing.T, width int, args []string) {
	t.Helper()
	file := filepath.Join(testdata, filepath.Base(t.Name())+".txt")
	p := newParts(context.WithCancelCause(t.Context()))
	var out bytes.Buffer
	p.console.Out = &show.Printer{W: &out, Width: width}
	if err := newRoot(p, args).Execute(); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		if line = bytes.TrimSuffix(line, []byte("\n")); show.Width(string(line)) > width && len(bytes.Fields(line)) > 1 {
			t.Errorf("%d columns: %s", show.Width(string(line)), line)
		}
	}
	golden.Check(t, file, out.Bytes())
}

// testdata is the folder of the screens, whatever the working directory.
var testdata = func() string {
	wd, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return filepath.Join(wd, "testdata")
}()
