package loader

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
)

// What a bundle's hash is made of must be what any other reader makes of the
// same bundle: hashes that a person allowed stay valid.
func TestBundleIsWrittenCanonically(t *testing.T) {
	odd := "a\"\\\u0007\u2028<é>😀/b.sh"
	for name, b := range map[string]bundle{
		"bare":    {},
		"members": {Name: "x.sh", Members: []member{{Name: odd, Mode: 0o755, Sum: "ab"}, {Name: "z", Mode: fs.ModePerm}}},
		"all": {
			Name: odd, Interpreter: "/bin/sh", Program: odd, Members: []member{},
			Entry:   protocol.RawMessage("{ \"z\": 1.50,\n \"a\": \"\\u00e9\" }"),
			Project: protocol.RawMessage(`{"b":[1, 2],"a":null}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := canonical(&b)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.appendCanonical(nil)
			if d := cmp.Diff(string(want), string(got)); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		})
	}
	if _, err := (&bundle{Name: "\xff"}).appendCanonical(nil); err == nil {
		t.Error("a name that is not valid UTF-8 was taken")
	}
	if _, err := (&bundle{Entry: protocol.RawMessage("{")}).appendCanonical(nil); err == nil {
		t.Error("an entry that is no JSON was taken")
	}
}
