package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hookd-dev/hookd/protocol"
)

func TestParse(t *testing.T) {
	long := strings.Repeat("a", maxText)
	for _, test := range []struct {
		name, text string
		want       *Skill
		err        string
	}{
		{
			name: "everything",
			text: "---\nname: db\ndescription: How our\n  database is used.\nkeywords: [SQL, \"foreign  key\", SQL]\nalways: true\n---\n\nUse pgx.\n",
			want: &Skill{Name: "db", Description: "How our database is used.", Keywords: []string{"SQL", "foreign key"}, Always: true, Text: "Use pgx."},
		},
		{
			name: "another agent's keys, and keywords in one line",
			text: "---\nname: pdf\nlicense: MIT\nallowed-tools: Bash, Read\nkeywords: pdf, form\n---\nText",
			want: &Skill{Name: "pdf", Keywords: []string{"pdf", "form"}, Text: "Text"},
		},
		{name: "no front matter", text: "# Notes\n", want: &Skill{Name: "file", Text: "# Notes"}},
		{name: "the longest text", text: long, want: &Skill{Name: "file", Text: long}},
		{name: "too long a text", text: long + "b", err: "not used: the text has 32769 bytes, a skill may have 32768"},
		{name: "no text", text: "---\nname: a\n---\n \n", err: "not used: there is no text"},
		{name: "empty", text: "", err: "not used: there is no text"},
		{name: "a name that cannot be written in a prompt", text: "---\ndescription: d\nname: my skill\n---\nT", err: `line 3: not used: the name "my skill"`},
		{name: "broken YAML", text: "---\nname: [a\n---\nT", err: "not used: "},
		{name: "always is no bool", text: "---\nalways: perhaps\n---\nT", err: "line 2: not used: "},
		{
			name: "too long a description", text: "---\ndescription: " + strings.Repeat("d", maxDescription+1) + "\n---\nT",
			want: &Skill{Name: "file", Description: strings.Repeat("d", maxDescription-3) + "…", Text: "T"},
			err:  "line 2: the description has 1025 bytes",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse("file", []byte(test.text))
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(Skill{}, "Revision")); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

func TestCalled(t *testing.T) {
	skills := []Skill{
		{Name: "always", Always: true},
		{Name: "cpp", Keywords: []string{"C++", "c#"}},
		{Name: "db", Keywords: []string{"database", "foreign key", "Ünïcode"}},
		{Name: "db-2"},
		{Name: "han", Keywords: []string{"数据库"}},
	}
	for prompt, want := range map[string]string{
		"hello":                         "",
		"look at the DATABASE.":         "db",
		"databases":                     "",
		"my_database":                   "",
		"#database!":                    "db",
		"a foreign\n  key?":             "db",
		"a foreign-key":                 "db",
		"foreign keys":                  "",
		"ÜNÏCODE":                       "db",
		"write C++, please":             "cpp",
		"C# 12":                         "cpp",
		"write C":                       "",
		"use $db.":                      "db",
		"use $db.sql":                   "",
		"($db)":                         "db",
		"$db-2 now":                     "db-2",
		"$db2 $$db US$db $DB":           "",
		"US$db and $db":                 "db",
		"/db look":                      "db",
		"  /db":                         "db",
		"/db-2":                         "db-2",
		"/db/file":                      "",
		"see /db":                       "",
		"我们的数据库很慢":                      "han",
		"$db and $db-2 and a database.": "db db-2",
	} {
		got := []string{}
		for _, s := range Called(skills, prompt) {
			got = append(got, s.Name)
		}
		if diff := cmp.Diff(strings.Fields("always "+want), got); diff != "" {
			t.Errorf("%q: %s", prompt, diff)
		}
	}
}

func TestRead(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	skills, problems := Read([]File{
		{Name: "db", Path: write("user/db.md", "user's"), Layer: protocol.User},
		{Name: "b", Path: write("user/b.md", "---\nname: release\n---\nsecond"), Layer: protocol.User},
		{Name: "db", Path: write("project/db.md", "project's"), Layer: protocol.Project},
		{Name: "a", Path: write("user/a.md", "---\nname: release\n---\nfirst"), Layer: protocol.User},
		{Name: "gone", Path: filepath.Join(folder, "gone.md"), Layer: protocol.User},
		{Name: "folder", Path: folder, Layer: protocol.User},
		{Name: "broken", Path: write("copy", "---\nname: x\n"), Origin: filepath.Join(folder, "user/broken.md"), Layer: protocol.User},
		{Name: "binary", Path: write("user/binary.md", "a\n\xff"), Layer: protocol.User},
	})
	var got []string
	for _, s := range skills {
		got = append(got, s.Name+": "+s.Text)
	}
	if diff := cmp.Diff([]string{"db: project's", "release: second"}, got); diff != "" {
		t.Error(diff)
	}
	var told []string
	for _, p := range problems {
		told = append(told, strings.ReplaceAll(p.Error(), folder, "F"))
	}
	want := []string{
		"skill F/user/a.md: not used: F/user/b.md is named release too; give one of them another name",
		"skill F/gone.md: not used: no such file or directory",
		"skill F: not used: it is not a regular file but a folder",
		"skill F/user/broken.md:1: not used: the front matter has no end; a line --- closes it",
		"skill F/user/binary.md:2: not used: this is not UTF-8 text",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestReadBeside(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"SKILL.md": "text", "forms.md": "forms", "secret": "s", "large": strings.Repeat("x", maxText+1)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	s := Skill{Name: "pdf", File: File{Path: filepath.Join(folder, "SKILL.md"), Beside: []string{"forms.md", "link", "large", "../x"}}}
	for name, want := range map[string]string{
		"forms.md": "",
		"secret":   "has no file",
		"link":     "escapes",
		"../x":     "escapes",
		"large":    "more than 32768 bytes",
	} {
		text, err := s.ReadBeside(name)
		switch {
		case want == "" && (err != nil || text != "forms"):
			t.Errorf("%s: %q, %v", name, text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: db\nkeywords: a, b\n---\nText", "$db a b")
	f.Add("---\nalways: yes\ndescription: \xc3\x28\n---\n", "/file")
	f.Fuzz(func(t *testing.T, text, prompt string) {
		s, err := Parse("file", []byte(text))
		if s == nil {
			if err == nil {
				t.Fatal("neither a skill nor an error")
			}
			return
		}
		if s.Text == "" || len(s.Text) > maxText || len(s.Description) > maxDescription || !nameForm().MatchString(s.Name) {
			t.Fatalf("%+v", s)
		}
		if len(Called([]Skill{*s}, "$"+s.Name)) != 1 {
			t.Fatalf("%q is not called by its name", s.Name)
		}
		Called([]Skill{*s}, prompt)
	})
}
