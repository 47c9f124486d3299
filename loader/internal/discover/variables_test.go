package discover

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/schema"
)

func TestVariables(t *testing.T) {
	environment := map[string]string{"KEY": "s3cret", "EMPTY": "", "DEEP": "${KEY}", "_a1": "x"}
	lookup := func(name string) (string, bool) { v, set := environment[name]; return v, set }
	for _, c := range []struct{ text, want, missing string }{
		{"plain", "plain", ""},
		{"${KEY}", "s3cret", ""},
		{"Bearer ${KEY}, ${_a1}!", "Bearer s3cret, x!", ""},
		{"${EMPTY}", "", ""},
		{"${EMPTY:-d}", "d", ""},
		{"${NONE:-d e}", "d e", ""},
		{"${NONE:-}", "", ""},
		{"${KEY:-d}", "s3cret", ""},
		{"${DEEP}", "${KEY}", ""},                  // looked at once
		{"$${KEY} $$${KEY}", "${KEY} $${KEY}", ""}, // the text itself
		{"$KEY ${} ${1} ${a.b} ${KEY", "$KEY ${} ${1} ${a.b} ${KEY", ""},
		{"${NONE}", "${NONE}", "NONE"},
		{"${NONE} ${OTHER}", "${NONE} ${OTHER}", "NONE"},
	} {
		v := variables{lookup: lookup}
		if got := v.fill("here", c.text); got != c.want || v.missing != c.missing {
			t.Errorf("%q: %q, missing %q; want %q, %q", c.text, got, v.missing, c.want, c.missing)
		}
	}
	written := schema.MCPServer{Command: "${KEY}", Args: []string{"--key=${KEY}"}, Env: map[string]string{"A": "${KEY}"}, URL: "https://${KEY}", Headers: map[string]string{"B": "x ${KEY}"}}
	got, bad := withVariables(written, lookup)
	want := schema.MCPServer{Command: "${KEY}", Args: []string{"--key=s3cret"}, Env: map[string]string{"A": "s3cret"}, URL: "https://s3cret", Headers: map[string]string{"B": "x s3cret"}}
	if diff := cmp.Diff(want, got); bad != nil || diff != "" {
		t.Error(bad, diff)
	}
	if written.Args[0] != "--key=${KEY}" || written.Env["A"] != "${KEY}" || written.Headers["B"] != "x ${KEY}" {
		t.Errorf("what was written has changed: %+v", written)
	}
}
