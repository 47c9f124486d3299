package shellwords

import (
	"strings"
	"testing"
)

// seenAs are what a pattern may be compared with for a command whose program is rm, after its
// program.
func seenAs(line *Line) string {
	var all []string
	for i := range line.Commands {
		for _, text := range line.Commands[i].spellings {
			if rest, is := strings.CutPrefix(text, "rm "); is && !strings.Contains(rest, "|") {
				all = union(all, []string{strings.TrimSuffix(rest, ";")})
			}
		}
	}
	return strings.Join(all, ", ")
}

// A name counts as it is written, and by its path from each folder in which the command may run.
func TestNamesAreSeenFromTheFolderOfTheCommand(t *testing.T) {
	for line, want := range map[string]string{
		"rm x":                                   "x",
		"cd /; rm x":                             "x, /x",
		"cd / && rm ./x/":                        "./x/, x, /x",
		"(cd /); rm x":                           "x",
		"(cd /; rm x)":                           "x, /x",
		"cd / & rm x":                            "x",
		"cd a && cd .. && rm x":                  "x",
		"cd a && cd b && rm x":                   "x, a/b/x",
		"cd .. && rm x":                          "x, ../x",
		"cd /a; cd b; rm x":                      "x, /a/b/x, b/x, /a/x", // each cd may fail
		"cd /a && cd - && rm x":                  "x",
		"cd /a && cd /b && cd - && rm x":         "x, /a/x",
		"cd && rm x":                             "x, ~/x",
		`cd "$HOME/a" && rm x`:                   "x, ~/a/x",
		"cd ~/.. && rm x":                        "x, /home/x",
		"cd ~u && rm x":                          "x, ~u/x",
		"cd '~' && rm x":                         "x, ~/x", // a file of that name: careful
		"cd $X && rm x":                          "x",
		"cd $X && cd /a && rm x":                 "x, /a/x",
		"cd $X && cd .. && rm x":                 "x",
		"D=/a; cd $D/b && rm x":                  "x, /a/b/x",
		"for d in /a /b; do cd $d; rm x; done":   "x, /a/x, /b/x",
		"while rm x; do cd ..; done":             "x, ../x",
		"if cd /; then rm x; else rm y; fi":      "x, /x, y, /y",
		"if a; then cd /; fi; rm x":              "x, /x",
		"case a in a) cd /;; esac; rm x":         "x, /x",
		"a && cd /; rm x":                        "x, /x",
		"cd / || exit; rm x":                     "x, /x",
		"cd / | rm x":                            "x",
		"a | cd /; rm x":                         "x, /x", // in zsh
		"go() { cd /; }; go; rm x":               "x, /x",
		"f() { rm x; }; cd /; f":                 "x, /x",
		"go() { cd /; }; rm x":                   "x",
		"eval 'cd /'; rm x":                      "x, /x",
		"command cd /; builtin cd a; rm x":       "x, /a/x, a/x, /x",
		"pushd /; rm x; popd; rm y":              "x, /x, y, /y",
		"pushd / && popd && rm y":                "y",
		"pushd /a && pushd /b && popd && rm y":   "y, /a/y",
		"pushd /a && pushd /b && pushd && rm y":  "y, /a/y",
		"sh -c 'cd / && rm x'; rm y":             "x, /x, y",
		"cd / && sh -c 'rm x'":                   "x, /x",
		"cd / && echo $(rm x)":                   "x, /x",
		"echo $(cd / && rm x); rm y":             "x, /x, y",
		"env -C / rm x":                          "x, /x",
		"env -iC/ rm x; rm y":                    "x, /x, y",
		"env --chd=/ sh -c 'rm x'":               "x, /x",
		"cd /a && env -C b rm x":                 "x, /a/x, /a/b/x",
		"sudo -D / env -C a rm x":                "x, a/x, /x, /a/x",
		"git -C / submodule foreach 'rm x'":      "x, /x",
		"systemd-run -p WorkingDirectory=/ rm x": "x, /x",
		"chroot /a rm x":                         "x, /a/x",
		"cd /a && rm /b ~/c -f $X http://x/y":    "/b ~/c -f $X http://x/y",
		`cd /a && rm "$PWD/x"`:                   `"$PWD/x", /a/x`,
		`cd /a && cd /b && rm "$OLDPWD"`:         `"$OLDPWD"`,
	} {
		if got := seenAs(Split(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// What is below the project is seen from there, and a folder outside of it by its path.
func TestFoldersOfTheProjectAreSeenFromThere(t *testing.T) {
	for _, c := range []struct{ line, project, folder, want string }{
		{"rm x", "/opt/app", "", "x"},
		{"rm x", "/opt/app", "sub", "x, sub/x"},
		{"rm x", "/opt/app", "/", "x, /x"},
		{"cd /opt/app && rm x", "/opt/app", "", "x"},
		{"cd /opt/app/.git && rm x", "/opt/app", "", "x, .git/x"},
		{"cd /opt/apple && rm x", "/opt/app", "", "x, /opt/apple/x"},
		{"cd / && rm x", "/", "", "x, /x"},
		{"cd .. && rm x", "/opt/app", "sub", "x"},
	} {
		if got := seenAs(SplitIn(c.line, c.project, c.folder)); got != c.want {
			t.Errorf("%s in %s of %s: %s, want %s", c.line, c.folder, c.project, got, c.want)
		}
	}
}

// A line that goes to more folders than are followed counts as not readable, and takes no
// time to tell.
func TestFoldersWithoutEndAreNotFollowed(t *testing.T) {
	many := "cd /"
	for i := range 100 {
		many += "; cd a" + strings.Repeat("b", i)
	}
	for name, line := range map[string]string{
		"many":      many,
		"loops":     strings.Repeat("while a; do ", 20) + "cd ..; rm x" + strings.Repeat("; done", 20),
		"functions": "a() { cd ..; b; b; b; }; b() { cd x; a; a; a; }; a; rm x",
	} {
		if l := Split(line); l.Err == nil {
			t.Errorf("%s: it is read as %d commands", name, len(l.Commands))
		}
	}
}
