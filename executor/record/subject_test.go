package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/schema"
)

// TestSubjectOfLongCommands: what a long command begins with is found without reading
// all of it, wherever it is cut.
func TestSubjectOfLongCommands(t *testing.T) {
	for shift := range 16 {
		for _, filler := range []string{"x", "é", `\`, "😀", "\n", `"`} {
			command := "cd " + strings.Repeat("y", shift) + strings.Repeat(filler, 5000)
			quoted, err := json.Marshal(command)
			if err != nil {
				t.Fatal(err)
			}
			if shift%2 == 1 {
				quoted = []byte(strings.ReplaceAll(string(quoted), "😀", `\ud83d\ude00`))
			}
			data := []byte(`{"args":{"command":` + string(quoted) + `}}`)
			if got, want := Subject(data, schema.ValuesHash, false, nil), programOf(command, nil); got != want {
				t.Errorf("%q %d: %q, not %q", filler, shift, got, want)
			}
			if got, want := Subject(data, schema.ValuesFull, false, nil), cutSubject(command); got != want {
				t.Errorf("%q %d: %q, not %q", filler, shift, got, want)
			}
		}
	}
}

func BenchmarkSubject(b *testing.B) {
	data, _ := json.Marshal(map[string]any{"args": map[string]string{"command": "ls " + strings.Repeat("x ", 1<<18)}})
	for b.Loop() {
		Subject(data, schema.ValuesHash, false, []string{"/bin"})
	}
}

// TestProgramIsLookedForOnce: a program that was found is known by its name from then on,
// to the folders in which it was found.
func TestProgramIsLookedForOnce(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "greets")
	if isProgram("greets", []string{folder}) {
		t.Error("it is known before it is there")
	}
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if !isProgram("greets", []string{folder}) {
		t.Error("what was missed before is not looked for again")
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if !isProgram("greets", []string{folder}) || isProgram("greets", []string{t.TempDir()}) {
		t.Error("it is not known, or in any folder")
	}
}
