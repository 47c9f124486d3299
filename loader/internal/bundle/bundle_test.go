package bundle

import (
	"io/fs"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// Hashes that a person allowed stay valid in every later version.
func TestBundleHashes(t *testing.T) {
	odd := "a\"\\\u0007\u2028<é>😀/b.sh"
	for hash, b := range map[string]Bundle{
		"sha256:1435549c11da658be4e2d8eb01b005301239cd350e17abc54b4971324a354d08": {},
		"sha256:0b53089e0d31df724b08f37808c50079fa208c3cd4112365ab3c95f9c704a0cf": {
			Name: "x.sh", Members: []Member{{Name: odd, Mode: 0o755, Sum: "ab"}, {Name: "z", Mode: fs.ModePerm}},
		},
		"sha256:fde173a3dd79e50dc45239562625f04db21cc6b44e3368996c4a0c9679e7b39d": {
			Name: odd, Interpreter: "/bin/sh", Program: odd, Members: []Member{},
			Entry:   protocol.RawMessage("{ \"z\": 1.50,\n \"a\": \"\\u00e9\" }"),
			Project: protocol.RawMessage(`{"b":[1, 2],"a":null}`),
		},
	} {
		if err := b.Seal(); err != nil || b.Hash != hash {
			t.Errorf("%q: %s (%v), want %s", b.Name, b.Hash, err, hash)
		}
	}
	if (&Bundle{Name: "\xff"}).Seal() == nil {
		t.Error("a name that is not valid UTF-8 was taken")
	}
	if (&Bundle{Entry: protocol.RawMessage("{")}).Seal() == nil {
		t.Error("an entry that is no JSON was taken")
	}
}
