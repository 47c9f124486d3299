package instruction

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// files writes files below a folder, in the layer that begins their name.
func files(t *testing.T, texts ...string) (list []File) {
	t.Helper()
	folder := t.TempDir()
	for i := 0; i < len(texts); i += 2 {
		layer, name, _ := strings.Cut(texts[i], ":")
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(texts[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
		list = append(list, File{Path: path, Origin: path, Layer: protocol.Layer(layer)})
	}
	return list
}

func TestTheLeastSpecificIsReadFirst(t *testing.T) {
	texts, problems := Read(files(t,
		"project:p/sub/AGENTS.md", "sub", "project:p/AGENTS.md", " \nroot\n\n", "user:u/AGENTS.md", "\ufeffmine", "managed:m/AGENTS.md", "admin", "project:p/empty/AGENTS.md", "\n",
	), 100)
	var got []string
	for _, one := range texts {
		got = append(got, one.Text)
	}
	if strings.Join(got, " ") != "admin mine root sub" || len(problems) > 0 {
		t.Errorf("%q %v", got, problems)
	}
}

// The limit is for projects: it takes nothing from user and machine.
func TestWhatDoesNotFitIsLeftOutAndTold(t *testing.T) {
	list := files(t, "project:p/AGENTS.md", "12345678", "project:p/a/AGENTS.md", "123", "project:p/a/b/AGENTS.md", "12", "user:u/AGENTS.md", "0123456789")
	texts, problems := Read(list, 10)
	if len(texts) != 3 || len(problems) != 1 {
		t.Fatalf("%v %v", texts, problems)
	}
	for _, want := range []string{filepath.Join("p", "a", "AGENTS.md"), "left 2 of the 10 bytes", "agent.instructions.limit"} {
		if !strings.Contains(problems[0].Error(), want) {
			t.Errorf("%v does not say %s", problems[0], want)
		}
	}
	if texts, problems := Read(list, 0); len(texts) != 1 || texts[0].Layer != protocol.User || len(problems) > 0 {
		t.Errorf("with a limit of 0: %v %v", texts, problems)
	}
	if texts, problems := Read(files(t, "user:u/AGENTS.md", strings.Repeat("x", ownLimit+1)), 10); len(texts) != 0 || len(problems) != 1 {
		t.Errorf("a large file of the user: %d, %v", len(texts), problems)
	}
}

func TestWhatIsNoTextIsNotRead(t *testing.T) {
	list := files(t, "user:a/AGENTS.md", "one\x00", "user:b/AGENTS.md", "\xff", "user:c/AGENTS.md", "fine")
	list = append(list, File{Path: t.TempDir(), Origin: "folder\x1b[31m", Layer: protocol.User}, File{Path: filepath.Join(t.TempDir(), "none"), Origin: "none", Layer: protocol.User})
	texts, problems := Read(list, 10)
	if len(texts) != 1 || texts[0].Text != "fine" || len(problems) != 4 {
		t.Errorf("%v %v", texts, problems)
	}
	for _, p := range problems {
		if strings.Contains(p.Error(), "\x1b") {
			t.Errorf("%q can repaint a terminal", p.Error())
		}
	}
}
