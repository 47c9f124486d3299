package selfprotect

import (
	"strings"
	"testing"
	"time"
)

// Whatever a line nests or repeats, the guard has an answer before any agent's patience ends.
func TestLongLinesTakeBoundedTime(t *testing.T) {
	w := newWorld(t)
	repeat := func(part string) string { return strings.Repeat(part, 15000/len(part)) }
	for name, line := range map[string]string{
		"words that are lines": "foo " + repeat(`'rm a b' `),
		"typed":                "tmux " + repeat(`'foo "rm x" y' `),
		"code with literals":   `python3 -c "` + repeat(`system('rm x y'), `) + `"`,
		"find and xargs":       repeat(`find . -name x | xargs rm; `),
		"pipes in pipes":       repeat(`echo 'rm x'|sh|`) + "sh",
		"nested shells":        repeat("sh -c 'sh -c \"echo x | sh\"';"),
		"cd":                   repeat("cd a/b; cd ..; ") + "rm x",
		"braces":               "rm " + repeat("{a,b}"),
		"variables":            repeat("a=$a$a$a;") + "rm $a $a $a",
		"globs":                "rm " + repeat(".*/* "),
		"substitutions":        "rm " + repeat("$(echo $(echo x)) "),
		"traps":                repeat(`trap 'rm "$x" y' EXIT; `),
		"arguments":            repeat(`bash -c 'rm "$1"' _ a; `),
		"start files":          repeat(`echo 'rm x' >> ~/.bashrc; `),
		"decoded":              repeat(`echo cm0gLXJmIHgK|base64 -d|sh;`),
		"git":                  repeat(`git -C a checkout x y;`),
		"containers":           "docker run " + repeat("-v /a:/b ") + "sh -c 'rm x'",
		"sed":                  "sed -n '" + repeat("w x\n") + "' a",
		"blocks":               strings.Repeat("{ ", 500) + "rm x" + strings.Repeat("; }|cat", 500),
	} {
		began := time.Now()
		w.shell(t, line)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}
