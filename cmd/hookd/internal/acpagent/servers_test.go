package acpagent

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A client's server that is a name is looked up on PATH, and never in the folder of the session: a
// program of that name that lies in a project is not run.
func TestServersAreLookedUpOnPath(t *testing.T) {
	for name, onPath := range map[string]bool{"it is on PATH": true, "it is in the project only": false} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, "turns:\n- text: done")
			program := func(place string) string {
				return "#!/bin/sh\necho x > '" + filepath.Join(c.folder, place) + "-ran'\nexit 1\n"
			}
			c.write("project/some-server", program("project"), 0o755)
			bin := filepath.Join(c.folder, "bin")
			if err := os.Mkdir(bin, 0o755); err != nil {
				t.Fatal(err)
			}
			if onPath {
				c.write("bin/some-server", program("path"), 0o755)
			}
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			c.start()
			c.initialize(object{})
			c.prompt(c.session(object{"name": "some", "command": "some-server", "args": []any{}, "env": []any{}}), text("go")...)
			ran := func(place string) bool {
				_, err := os.Stat(filepath.Join(c.folder, place+"-ran"))
				return err == nil
			}
			for end := time.Now().Add(5 * time.Second); onPath && !ran("path") && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond)
			}
			c.end()
			if ran("path") != onPath || ran("project") {
				t.Errorf("that on PATH ran: %v; that of the project ran: %v", ran("path"), ran("project"))
			}
		})
	}
}
