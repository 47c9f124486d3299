package patterns

import (
	"strings"
	"testing"
)

func TestMayMatch(t *testing.T) {
	text := func(s string) Piece { return Piece{Text: s} }
	any, word, name := Piece{Any: Anything}, Piece{Any: Word}, Piece{Any: Name}
	for _, tc := range []struct {
		pattern string
		pieces  []Piece
		want    bool
	}{
		{"git push", []Piece{text("git "), any}, true},
		{"git push", []Piece{text("git"), any, text(" origin")}, true},
		{"git push", []Piece{text("git status "), any}, false},
		{"git push", []Piece{text("git pus"), name}, true},
		{"git push", []Piece{text("git push"), name}, true}, // of nothing
		{"git push", []Piece{text("git push"), word, text("x")}, false},
		{"git push", []Piece{text("git push")}, true},
		{"git push", []Piece{text("git pushd")}, false},
		{"git push", []Piece{text("git push x")}, true},
		{"git push", []Piece{text("git")}, false},
		{"git push", []Piece{word, text(" push")}, true},
		{"/rm (.* )?/[a-z]+/", []Piece{text("rm build/"), name}, false},
		{"/rm (.* )?/[a-z]+/", []Piece{text("rm "), name, text(".o")}, false},
		{"/rm (.* )?/[a-z]+/", []Piece{text("rm "), any, text("lock")}, true},
		{"/rm (.* )?/[a-z]+/", []Piece{text("rm "), any, text(".lock")}, false},
		{"/rm (.* )?/[a-z]+/", []Piece{text("rm"), any}, true},
		{"/rm (.* )?/[a-z]+/", []Piece{text("rm -rf /"), any}, true},
		{"/[^ ]+/[.]ssh/.*/", []Piece{text("/"), {Any: Folder}, text("/.x")}, false},
		{"/[^ ]+/[.]ssh/.*/", []Piece{text("/"), {Any: Folder}, text("/.ssh/x")}, true},
		{"/home/bob.x/y", []Piece{text("/"), {Any: Folder}, text("/y")}, true},
		{"/[/]:x/", []Piece{text("/"), {Any: Path, Some: true}, text(":x")}, false},
		{"/[/]a:x/", []Piece{text("/"), {Any: Path, Some: true}, text(":x")}, true},
		{"rm *", []Piece{word, text("/bin/python x")}, false},
		{"rm *", []Piece{any, text("/bin/python x")}, true},
		{"/cp [^ ]+ [^ ]+/", []Piece{text("cp "), text("a/"), name, {Again: 2}}, true},
		{"/cp [^ ]+ /etc/", []Piece{text("cp "), text("a/"), name, {Again: 2}}, false},
		{"/cp [^ ]+ a/b/", []Piece{text("cp "), text("a/"), name, {Again: 2}}, true},
		{"/cp( a/b){5}/", []Piece{text("cp "), text("a/"), name, {Again: 2}}, true},
		{"/[/*]x/", []Piece{name, text("x")}, false},
		{"/(?i)drop/", []Piece{text("DR"), any}, true},
		{`/a\b.*/`, []Piece{text("a"), any}, true},
	} {
		p, err := Parse(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MayMatch(tc.pieces); got != tc.want {
			t.Errorf("%s with %v: %v", tc.pattern, tc.pieces, got)
		}
	}
}

// Whatever the unknown part turns out to be, a pattern that matches then may match before.
func FuzzMayMatch(f *testing.F) {
	f.Add("git push", "git ", "push", "")
	f.Add("/rm (.* )?[a-z]+/", "rm ", "x y", ".o")
	f.Add("a*b?c", "a", "xb", "yc")
	f.Fuzz(func(t *testing.T, pattern, before, value, after string) {
		p, err := Parse(pattern)
		if err != nil || !p.Match(before+value+after) {
			return
		}
		if first, _, _ := strings.Cut(before+value+after, " "); !p.MayStart(first, false) {
			t.Errorf("%q matches %q and may not start with %q", pattern, before+value+after, first)
		}
		for _, class := range []Class{Anything, Word, Name} {
			within := true
			for _, r := range value {
				within = within && class.has(r)
			}
			if within && !p.MayMatch([]Piece{{Text: before}, {Any: class}}, []Piece{{Text: after}}) {
				t.Errorf("%q matches %q + %q + %q", pattern, before, value, after)
			}
		}
	})
}

// A text whose first word cannot be that of a match is passed over.
func TestMayStart(t *testing.T) {
	for _, tc := range []struct {
		pattern, word string
		open, want    bool
	}{
		{"git push *", "git", false, true}, {"git push *", "gitk", false, false}, {"git push", "gi", true, true}, {"git push", "gi", false, false},
		{"/(rm|mv) .*/", "mv", false, true}, {"/(rm|mv) .*/", "cp", false, false}, {"/mkfs(\\.[a-z]+)?( .*)?/", "mkfs.ext4", false, true}, {"/mkfs.*/", "mk", false, false},
		{"/python[0-9.]* -c/", "python3", false, true}, {"/.*x/", "y", false, true}, {"/(?i)rm x/", "RM", false, true}, {"*", "x", false, true},
		{"/[a-z]{50} x/", "y", false, true}, {"> /dev/*", ">", false, true}, {"g?t", "got", false, true},
	} {
		p, err := Parse(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MayStart(tc.word, tc.open); got != tc.want {
			t.Errorf("%s, %s: %v", tc.pattern, tc.word, got)
		}
	}
}
