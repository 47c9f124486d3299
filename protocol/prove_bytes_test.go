package protocol

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/test/prove"
)

// awkward is a random JSON value of the kinds that decoding and encoding again
// would not give back as they were.
func awkward(r *rand.Rand, depth int) string {
	blank := pick(r, "", "", " ", "  ", "\t")
	switch n := r.IntN(9); {
	case n < 2:
		return blank + pick(r, fmt.Sprint(9007199254740993+r.Int64N(1<<60)), "-"+fmt.Sprint(r.Uint64()), "123456789012345678901234567890123456789", "-0", "0.10", "1.0")
	case n < 4:
		return blank + pick(r, fmt.Sprintf("1e%d", 300+r.IntN(900)), fmt.Sprintf("%d.%dE-%d", r.IntN(9), r.IntN(99), r.IntN(999)), "0.1e+01", "1E400", "5e-324", "2.50")
	case n < 6:
		return blank + pick(r, `"\u0061\/b"`, `"é\u00e9€😀\ud83d\ude00"`, `"<&>\u2028\u2029"`, `"\u0000\u001f\b\f"`, `"a\"\\b"`, `""`)
	case n == 6 || depth > 4:
		return blank + pick(r, "null", "true", "false", "{}", "[]", "[ ]", "{ }")
	case n == 7:
		var items []string
		for range r.IntN(4) {
			items = append(items, awkward(r, depth+1))
		}
		return blank + "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for i := range r.IntN(4) {
		members = append(members, fmt.Sprintf(`%s"%s%d"%s:%s`, blank, pick(r, "k", `\u006b`, "é", "a.b", "~/"), i, blank, awkward(r, depth+1)))
	}
	return blank + "{" + strings.Join(members, ",") + "}"
}

// G18: what no hook changed reaches the host byte for byte, also after a change of
// what stands next to it. Hooks read the same bytes but for escapes that are not
// needed.
func TestBytesPassUnchanged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 18))
	events, changed := prove.Size(500, 10_000), 0
	for range events {
		kept, beside := awkward(r, 0), awkward(r, 0)
		args := fmt.Sprintf(`{"kept":%s, "changed" : 1,"beside":%s}`, kept, beside)
		ev := mustDecode(t, toolCall(args))
		line, err := AppendEvent(nil, &ev)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(line, append([]byte(`"args":`), jsonspan.Plain(RawMessage(args))...)) {
			t.Fatalf("a hook reads\n%s, not\n%s", line, args)
		}
		if got := string(jsonspan.Get(ev.Data, "args")); got != args {
			t.Fatalf("the host reads\n%s, not\n%s", got, args)
		}
		reply := Reply{Action: Modify, Changes: RawMessage(`{"args":{"changed":2}}`)}
		if r.IntN(2) == 0 {
			reply = Reply{Action: Modify, Patch: RawMessage(`[{"op":"replace","path":"/args/changed","value":2}]`)}
		}
		after, _, err := Apply(ev, HookInfo{Name: "h", Layer: Project, Class: CanModify}, reply, DecodeLimits{})
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		changed++
		if got, want := string(jsonspan.Get(after.Data, "args")), strings.Replace(args, `"changed" : 1`, `"changed" : 2`, 1); got != want {
			t.Fatalf("behind a change beside it the host reads\n%s, not\n%s", got, want)
		}
	}
	prove.Figure(t, "G18", "%d events of random awkward values, %d of them changed beside: every byte as it was", events, changed)
}
