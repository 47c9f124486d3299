package models

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/schema"
)

// TestARecordingFollowsTheModel asserts that a conversation that lets another
// model answer goes on with its recording, and says which model it is.
func TestARecordingFollowsTheModel(t *testing.T) {
	folder := t.TempDir()
	script := func(name, text string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte("turns:\n- text: "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return "scripted:" + file
	}
	var printed bytes.Buffer
	console, closers := &cli.Console{Err: &show.Printer{W: &printed}}, &cli.Closers{}
	tape := filepath.Join(folder, "tape.jsonl")
	choice := &Choice{record: tape}
	for _, name := range []string{script("one.yaml", "first"), script("two.yaml", "second")} {
		choice.Name = name
		m, err := Choose(console, closers, choice, &schema.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got := model.Origin(m); got != name {
			t.Errorf("the model is said to be %s, not %s", got, name)
		}
		for _, err := range m.Generate(t.Context(), model.Request{Model: m.Name()}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := closers.Close(console); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(tape)
	if err != nil || !strings.Contains(string(kept), "first") || !strings.Contains(string(kept), "second") {
		t.Errorf("the recording holds %s (%v)", kept, err)
	}
}
