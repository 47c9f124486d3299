package interpreter

import (
	"strings"
	"testing"
)

// A program in two lists was now of one kind and now of the other.
func TestAProgramIsOfOneKind(t *testing.T) {
	seen := map[string]Kind{}
	for _, list := range kindNames {
		for name := range strings.FieldsSeq(string(list.names)) {
			if of, again := seen[name]; again {
				t.Errorf("%s is of the kinds %s and %s", name, of, list.of)
			}
			if seen[name] = list.of; KindOf(name) != list.of || KindOf("/usr/bin/"+name+"-3.1") != list.of {
				t.Errorf("%s is of the kind %s", name, KindOf(name))
			}
		}
	}
}

// A program that configures itself from the working directory is told to leave that alone
// before the script, by all of the options that this needs; after the script they are the
// script's own.
func TestSealed(t *testing.T) {
	for line, want := range map[string]bool{
		"bun --config=/dev/null --env-file=/dev/null x.ts":     true,
		"bun run --env-file=/dev/null --config=/dev/null x.ts": true,
		"/usr/bin/deno run --no-config x.ts":                   true,
		"deno --no-config x.ts":                                true,
		"bun --config=/dev/null x.ts":                          false,
		"bun x.ts --config=/dev/null --env-file=/dev/null":     false,
		"bun --config=bunfig.toml --env-file=/dev/null x.ts":   false,
		"deno run x.ts --no-config":                            false,
		"deno task --no-config x":                              false,
		"php --no-config x":                                    false,
		"bun":                                                  false,
	} {
		if got := Sealed(strings.Fields(line)); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
