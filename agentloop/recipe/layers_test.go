package recipe

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// TestForALayer asserts which recipe a layer's hook or setting gets by a name: never
// one of a layer above it, save a built-in one as the managed layer has it.
func TestForALayer(t *testing.T) {
	file := func(layer protocol.Layer, name string) File {
		return File{Name: name, Path: "/" + string(layer) + "/" + name + ".md", Layer: layer, Text: []byte("do it")}
	}
	l, findings := New(
		file(protocol.Project, "mine"), file(protocol.User, "deploy"), file(protocol.Managed, "audit"),
		file(protocol.User, "both"), file(protocol.Project, "both"),
		file(protocol.Managed, "fixed"), file(protocol.Project, "fixed"),
		file(protocol.User, "compact"), file(protocol.Managed, "summarize"), file(protocol.User, "summarize"),
	)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	const no = "none"
	for name, want := range map[string]map[protocol.Layer]protocol.Layer{
		"mine":          {protocol.Project: "project", protocol.User: "project", protocol.Managed: "project", protocol.Builtin: "project"},
		"deploy":        {protocol.Project: no, protocol.User: "user", protocol.Managed: "user", protocol.Builtin: "user"},
		"audit":         {protocol.Project: no, protocol.User: no, protocol.Managed: "managed", protocol.Builtin: "managed"},
		"both":          {protocol.Project: "project", protocol.User: "project", protocol.Builtin: "project"},
		"fixed":         {protocol.Project: no, protocol.User: no, protocol.Managed: "managed", protocol.Builtin: "managed"},
		"compact":       {protocol.Project: "builtin", protocol.User: "user", protocol.Builtin: "user"},
		"summarize":     {protocol.Project: "managed", protocol.User: "managed", protocol.Builtin: "managed"},
		"self-critique": {protocol.Project: "builtin", protocol.User: "builtin", protocol.Builtin: "builtin"},
		"nowhere":       {protocol.Project: no, protocol.Builtin: no},
	} {
		for asker, layer := range want {
			r, err := l.For(asker, name)
			switch {
			case layer == no && (err == nil || !strings.Contains(err.Error(), name)):
				t.Errorf("%s for %s: %v, %v", name, asker, r, err)
			case layer != no && (err != nil || r.Layer != layer):
				t.Errorf("%s for %s: %v, %v; want that of %s", name, asker, r, err, layer)
			}
		}
	}
}
