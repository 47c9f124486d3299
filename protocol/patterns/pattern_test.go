package patterns

import (
	"testing"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"ls", "ls", true},
		{"ls", "ls -l", false},
		{"ls", "LS", false},
		{"git *", "git push a/b c", true},
		{"git *", "git", false},
		{"*rm*", "a\nrm\nb", true},
		{"l?", "ls", true},
		{"l?", "lsx", false},
		{`echo \*`, "echo *", true},
		{`echo \*`, "echo x", false},
		{"a+b(c)[d]{e}", "a+b(c)[d]{e}", true},
		{"[ -f x ]", "[ -f x ]", true},
		{"/git (push|pull).*/", "git pull", true},
		{"/git (push|pull).*/", "xgit pull", false},
		{"/rm.*/", "rm a\nb", true},
		{"/a|b/", "ab", false},
		{"/usr/bin/rm", "/usr/bin/rm", true},
		{"/usr/bin/*", "/usr/bin/rm x", true},
		{"grüß*", "grüß dich", true},
	} {
		p, err := Parse(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
		} else if got := p.Match(c.text); got != c.want {
			t.Errorf("%s on %q: %v", c.pattern, c.text, got)
		}
	}
	for _, bad := range []string{"", "  ", "/(/", "/rm (", "/a|b", "/x{2,1}/"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for pattern, want := range map[string]string{"rm -rf *": "rm -rf ", "rm": "rm", "/rm -[rf]+/": "rm -", "*x": ""} {
		if p, _ := Parse(pattern); p.Literal != want {
			t.Errorf("%s begins with %q", pattern, p.Literal)
		}
	}
}

func TestPatternMayBegin(t *testing.T) {
	for _, c := range []struct {
		pattern, beginning string
		want               bool
	}{
		{"git push", "git ", true},
		{"git push", "git push", true},
		{"git push", "git status ", false},
		{"git *", "git", true},
		{"git *", "gitk", false},
		{"*shadow*", "echo ", true},
		{"/(curl|wget) .*/", "echo ", false},
		{"/(curl|wget) .*/", "wge", true},
		{"/(curl|wget) .*/", "", true},
		{"/git (push|pull)/", "git push ", false},
		{"/rm( -[rf]+)* x/", "rm -rf -f ", true},
		{"/rm( -[rf]+)* x/", "rm -rg", false},
		{`/\bgit\b.*/`, "git", true},
		{"/(?i)RM .*/", "rM x", true},
	} {
		p, err := Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MayMatch([]Piece{{Text: c.beginning}, {Any: Anything}}); got != c.want {
			t.Errorf("%s may begin with %q: %v", c.pattern, c.beginning, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"ls *", "/a(b|c)+/", `a\*`, "/", "//", "/x", "\xff*", "?"} {
		f.Add(seed, "ls x")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := Parse(pattern)
		if err != nil {
			return
		}
		if p.Match(text); p.Exact && !p.Match(p.Literal) {
			t.Errorf("%q does not match itself", pattern)
		}
		for i := range text {
			if p.Match(text) && !p.MayMatch([]Piece{{Text: text[:i]}, {Any: Anything}}) {
				t.Errorf("%q matches %q and may not begin with %q", pattern, text, text[:i])
			}
		}
	})
}
