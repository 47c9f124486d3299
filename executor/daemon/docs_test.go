package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each line of the transcripts in docs/daemon.md stands in a conversation that
// is played by the tests, and each method, notification and error of the code
// is on the page.
func TestPageIsTheConversations(t *testing.T) {
	page, err := os.ReadFile("../../docs/daemon.md")
	if err != nil {
		t.Fatal(err)
	}
	var played strings.Builder
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		played.Write(text)
	}
	lines := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "-> ") && !strings.HasPrefix(line, "<- ") {
			continue
		}
		lines++
		whole, cut := strings.CutSuffix(strings.TrimSuffix(line, "\n"), " …")
		if !cut {
			whole += "\n"
		}
		if !strings.Contains(played.String(), "\n"+whole) {
			t.Errorf("in no conversation: %s", line)
		}
	}
	if lines < 20 {
		t.Errorf("only %d lines of transcripts", lines)
	}
	for method := range methods {
		if !strings.Contains(string(page), "| `"+method+"` |") {
			t.Errorf("the method %s is not on the page", method)
		}
	}
	for notification := range offered {
		if !strings.Contains(string(page), "| `"+notification+"` |") {
			t.Errorf("the notification %s is not on the page", notification)
		}
	}
	for _, code := range []string{"-32700", "-32600", "-32601", "-32602", "-32603", "-32800", "-32001", "-32002", "-32003"} {
		if !strings.Contains(string(page), "| "+code+" |") {
			t.Errorf("the error %s is not on the page", code)
		}
	}
}
