package shellwords

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Words are resolved as the shell would, as far as the variables are known; what is not
// is kept as written.
func TestResolve(t *testing.T) {
	values := map[string]string{"P": "/p", "HOME": "/h", "BLANK": "/a b", "EMPTY": "", "PWD": "/p", "$(pwd)": "/p"}
	value := func(name string) (string, bool) {
		v, known := values[name]
		return v, known
	}
	for line, want := range map[string]string{
		`"$P"/x.sh --a`:                    `/p/x.sh --a`,
		`${P}/x.sh $P/y`:                   `/p/x.sh /p/y`,
		`'$P'/x.sh`:                        `$P/x.sh`,
		`~/x.sh "~/y"`:                     `/h/x.sh ~/y`,
		`$BLANK/x "$BLANK/x"`:              `?$BLANK/x /a b/x`,
		`$NONE/x.sh`:                       `?$NONE/x.sh`,
		`$(cat f) "$(cat g)"`:              "?$(cat f) ?\"$(cat g)\"\ncat f\ncat g",
		`a *.sh {b,c} b?`:                  `a ?*.sh ?{b,c} ?b?`,
		`${P:-/other}/x ${EMPTY:-/o}/x`:    `/p/x ?${EMPTY:-/o}/x`,
		`${P%x} ${#P} ${P/a/b} ${!P}`:      `?${P%x} ?${#P} ?${P/a/b} ?${!P}`,
		`P=/elsewhere; $P/x.sh`:            "=/elsewhere\n?$P/x.sh",
		`for P in a b; do $P/x.sh; done`:   `?$P/x.sh`,
		`read P; $P/x.sh`:                  "read P\n?$P/x.sh",
		`export Q="$P/q"; x <"$P/in" >out`: "=/p/q\nx <" + "/p/in",
		`if a; then b | c && d; fi; (e &)`: "a\nb\nc\nd\ne",
		"cat <<E\n$P\nE\n":                 "cat",
		`ab\ c/d`:                          `ab c/d`,
		`$(pwd)/x "$(pwd 2>/dev/null)/y"`:  "/p/x /p/y\npwd\npwd",
		`$(pwd -P)/x $(pwd; a)/y`:          "?$(pwd -P)/x ?$(pwd; a)/y\npwd -P\npwd\na",
		`$(! pwd)/x $(A=b pwd)/y`:          "?$(! pwd)/x ?$(A=b pwd)/y\npwd\n=b pwd",
		`$(pwd >f)/x $($P)/y`:              "?$(pwd >f)/x ?$($P)/y\npwd\n/p",
		`cd a; $(pwd)/x $PWD/y`:            "cd a\n?$(pwd)/x ?$PWD/y\npwd",
	} {
		commands, err := Resolve(line, value)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		var got []string
		for _, c := range commands {
			var words []string
			add := func(mark string, list []Resolved) {
				for _, w := range list {
					if !w.Known {
						mark += "?"
					}
					if !w.Known && line[w.Begin:w.End] != w.Text {
						t.Errorf("%s: %q stands at %q", line, w.Text, line[w.Begin:w.End])
					}
					words = append(words, strings.TrimSuffix(mark, "?")+map[bool]string{false: "?"}[w.Known]+w.Text)
					mark = strings.TrimSuffix(mark, "?")
				}
			}
			add("=", c.Sets)
			add("", c.Words)
			add("<", c.Reads)
			got = append(got, strings.Join(words, " "))
		}
		if d := cmp.Diff(strings.Split(want, "\n"), got); d != "" {
			t.Errorf("%s:\n%s", line, d)
		}
	}
	for _, line := range []string{`"x`, `x |`, `$(`, strings.Repeat("x", maxText+1), strings.Repeat("x;", maxCommands+1)} {
		if _, err := Resolve(line, value); err == nil {
			t.Errorf("%.20s is understood", line)
		}
	}
}

// Each word stands where it says, so that it can be replaced.
func FuzzResolve(f *testing.F) {
	for _, line := range []string{`"$P"/x.sh --a`, `for i in *; do $i "$(a)"; done`, "cat <<E\n$P\nE\n", `a=(b c) x`, `~/x >y`, "\xff`"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		commands, err := Resolve(line, func(name string) (string, bool) { return "/v", name == "P" })
		if err != nil {
			return
		}
		for _, c := range commands {
			for _, list := range [][]Resolved{c.Words, c.Sets, c.Reads} {
				for _, w := range list {
					if w.Begin < 0 || w.End < w.Begin || w.End > len(line) {
						t.Fatalf("%q: a word from %d to %d", line, w.Begin, w.End)
					}
				}
			}
		}
	})
}
