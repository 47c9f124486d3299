package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStartErrors is H06, H11 and H38: each kind of trouble is told apart and named.
func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", "#!/bin/sh\nexit 0\n", 0o755)
	tests := map[string]struct {
		command Command
		reason  StartReason
		detail  string
	}{
		"no such file":        {Command{Path: dir + "/none"}, FileMissing, "no such file: " + dir + "/none"},
		"no such folder":      {Command{Path: dir + "/none/none"}, FileMissing, "no such file"},
		"cwd gone":            {Command{Path: good, Dir: dir + "/away"}, DirMissing, "working directory missing: " + dir + "/away"},
		"cwd is a file":       {Command{Path: good, Dir: good}, DirMissing, "working directory missing"},
		"interpreter missing": {Command{Path: file("py", "#!/opt/none/python3 -u\n", 0o755)}, InterpreterMissing, "interpreter /opt/none/python3 of"},
		"carriage return":     {Command{Path: file("crlf", "#!/bin/sh\r\nexit 0\r\n", 0o755)}, InterpreterMissing, "carriage return"},
		"no interpreter line": {Command{Path: file("bare", "exit 0\n", 0o755)}, NoInterpreter, "has no interpreter line"},
		"empty":               {Command{Path: file("empty", "", 0o755)}, NoInterpreter, "is empty"},
		"not executable":      {Command{Path: file("mode", "#!/bin/sh\n", 0o644)}, NotExecutable, "is not executable"},
		"a folder":            {Command{Path: dir}, NotExecutable, "is a directory"},
	}
	for _, options := range available(t) {
		rt := newRuntime(t, options)
		for name, test := range tests {
			t.Run(options.name()+"/"+name, func(t *testing.T) {
				r := rt.Run(within(t, 5*time.Second), &test.command)
				var e *StartError
				if !errors.As(r.Err, &e) {
					t.Fatalf("%v, exit %d %s", r.Err, r.ExitCode, r.Signal)
				}
				if e.Reason != test.reason || !strings.Contains(e.Detail, test.detail) || r.ExitCode != -1 {
					t.Errorf("%s: %s", e.Reason, e.Detail)
				}
				mustEnd(t, r, 2*time.Second)
			})
		}
	}
}

// TestFileBusy is H39.
func TestFileBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hook")
	write := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("#!/bin/sh\necho ok\n"); err != nil {
			t.Fatal(err)
		}
		return f
	}
	onLadders(t, func(t *testing.T, rt *Runtime) {
		stop := make(chan struct{})
		for range 4 {
			go func() {
				for {
					select {
					case <-stop:
						return
					default:
						rt.Run(within(t, 5*time.Second), shell("exit 0"))
					}
				}
			}()
		}
		for range count(30, 500) {
			write().Close()
			if r := rt.Run(within(t, 5*time.Second), &Command{Path: path}); r.Err != nil || string(r.Stdout) != "ok\n" {
				t.Fatalf("%v, stdout %q", r.Err, r.Stdout)
			}
		}
		close(stop)

		held := write()
		defer held.Close()
		r := rt.Run(within(t, 5*time.Second), &Command{Path: path})
		var e *StartError
		if r.Err == nil {
			t.Log("this kernel runs a file that is open for writing")
		} else if !errors.As(r.Err, &e) || e.Reason != FileBusy || r.Took > time.Second {
			t.Errorf("held open: %v after %s", r.Err, r.Took)
		}
	})
}

func TestEnvInterpreter(t *testing.T) {
	tests := map[string]string{
		"#!/usr/bin/env python3\n":             "python3",
		"#!/usr/bin/env -S python3 -u\n":       "python3",
		"#! /usr/bin/env  node\r\n":            "node",
		"#!/usr/bin/env -S A=1 deno run\nno\n": "deno",
		"#!/bin/sh\n":                          "",
		"#!/usr/bin/env\n":                     "",
		"env python3\n":                        "",
		"":                                     "",
		"#!/usr/bin/environment python3\nwhatever": "",
	}
	for text, want := range tests {
		path := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, ok := EnvInterpreter(path); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}
