package protocol

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/test/prove"
)

// bigCall is a tool call whose args hold about n bytes.
func bigCall(args string) string {
	return `{"toolCallId":"c1","name":"bash","kind":"shell","args":` + args + `,"parallel":1}`
}

func nested(depth int, inner string) string {
	return strings.Repeat(`{"a":`, depth) + inner + strings.Repeat("}", depth)
}

// patience is what nothing here takes longer than: a promise at full size, and
// enough for a slow machine with the race detector otherwise.
func patience() time.Duration { return time.Duration(prove.Size(30, 8)) * time.Second }

func operations(n int, one func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(one(i))
	}
	return "[" + b.String() + "]"
}

func objectOf(n int) string {
	list := operations(n, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) })
	return "{" + list[1:len(list)-1] + "}"
}

// No change of a reply takes longer, or more memory, than its bounds: it is done,
// or it is refused.
func TestChangesAreBounded(t *testing.T) {
	large := prove.Size(50_000, 5_000_000)
	list := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	type row struct {
		args           string
		changes, patch string
	}
	key := strings.Repeat("k", 400_000)
	rows := map[string]row{
		"inserts at the front": {`{"l":` + list(large) + `}`, "", operations(20_000, func(int) string { return `{"op":"add","path":"/args/l/0","value":0}` })},
		"removals in front":    {`{"l":` + list(large) + `}`, "", operations(20_000, func(int) string { return `{"op":"remove","path":"/args/l/0"}` })},
		"copies that double": {`{"a":[1]}`, "", operations(60, func(i int) string {
			return `{"op":"copy","from":"/args/a","path":"/args/a/0"}`
		})},
		"copies of all": {`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "", operations(10_000, func(i int) string { return fmt.Sprintf(`{"op":"copy","from":"/args/a","path":"/args/c%d"}`, i) })},
		"moves in a ring": {`{"a":` + objectOf(200_000) + `}`, "", operations(10_000, func(i int) string {
			return `{"op":"move","from":"/args/a","path":"/args/b"},{"op":"move","from":"/args/b","path":"/args/a"}`
		})},
		"moves into one another": {objectOf(15_000), "", operations(14_999, func(i int) string {
			return fmt.Sprintf(`{"op":"add","path":"/args/k%d","value":{}},{"op":"move","from":"/args/k%d","path":"/args/k%d/x"}`, i+1, i, i+1)
		})},
		"tests of something big":  {`{"l":` + list(large) + `}`, "", operations(5_000, func(int) string { return `{"op":"test","path":"/args/l","value":[1]}` })},
		"tests of a big object":   {objectOf(500_000), "", `[{"op":"test","path":"/args","value":` + objectOf(60_000) + `},{"op":"add","path":"/args/x","value":1}]`},
		"deep, one change":        {nested(500, `"`+strings.Repeat("x", 20<<20)+`"`), nested(500, `1`), ""},
		"deep, many small values": {nested(400, list(large)), nested(400, `1`), ""},
		"deep, patched":           {nested(400, list(large)), "", `[{"op":"replace","path":"/args` + strings.Repeat("/a", 400) + `/7","value":2}]`},
		"many changes":            {objectOf(100_000), strings.ReplaceAll(objectOf(50_000), ":", ":1"), ""},
		"long path, many changes": {`{"` + key + `":{}}`, `{"` + key + `":` + objectOf(30_000) + `}`, ""},
		"many new members":        {`{}`, objectOf(60_000), ""},
		"many empty lists":        {"{\"l\":[" + strings.Repeat("[],", large) + "[]]}", "", `[{"op":"add","path":"/args/l/-","value":1}]`},
	}
	var longest time.Duration
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			ev := Event{Event: ToolCallStart, Data: RawMessage(bigCall(r.args))}
			reply := Reply{Action: Modify}
			if r.changes != "" {
				reply.Changes = RawMessage(`{"args":` + r.changes + `}`)
			} else {
				reply.Patch = RawMessage(r.patch)
			}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			data, changes, err := Apply(ev, HookInfo{Name: "h", Layer: Project, Class: CanModify}, reply, DecodeLimits{})
			took := time.Since(began)
			longest = max(longest, took)
			runtime.ReadMemStats(&after)
			t.Logf("%s, %d MiB made, %d changes, %v", took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, len(changes), err)
			if took > patience() {
				t.Errorf("took %s", took)
			}
			if grown := (after.Sys - before.Sys) >> 20; grown > 1500 {
				t.Errorf("took %d MiB of the system", grown)
			}
			if len(changes) > mostChanges {
				t.Errorf("%d changes are listed", len(changes))
			}
			if err == nil && !jsonspan.Valid(data.Data) {
				t.Error("the changed event is no JSON")
			}
		})
	}
	prove.Figure(t, "G1", "%d changes that ask for too much: done or refused, the longest took %s", len(rows), longest.Round(time.Millisecond))
}

// No event takes long to read, whatever it holds.
func TestDecodeEventIsBounded(t *testing.T) {
	size := prove.Size(2, 20) << 20
	fill := func(one string) string { return strings.Repeat(one, size/len(one)) }
	many := func(n int) string { return objectOf(n) }
	for name, args := range map[string]string{
		"deep lists":       `{"a":[` + fill(strings.Repeat("[", 400)+strings.Repeat("]", 400)+",") + `0]}`,
		"deep objects":     `{"a":[` + fill(nested(400, "0")+",") + `0]}`,
		"many members":     many(size / 20),
		"repeated member":  strings.TrimSuffix(many(size/20), "}") + `,"k0":1}`,
		"long names":       `{"` + fill("x") + `":1}`,
		"escapes":          `{"a":"` + fill(`\u00e9`) + `"}`,
		"half surrogates":  `{"a":"` + fill(`\ud800`) + `"}`,
		"quotes that open": `{"a":"` + fill(`\"`) + `"}`,
		"numbers":          `{"a":[` + fill("1e5,") + `0]}`,
		"never closed":     `{"a":` + fill("["),
	} {
		line := `{"protocol":1,"event":"tool-call-start","id":"1","session":{"id":"s"},"agent":{"id":"main"},"data":` + bigCall(args) + `}`
		began := time.Now()
		_, err := DecodeEvent([]byte(line), DecodeLimits{})
		if took := time.Since(began); took > patience() {
			t.Errorf("%s: took %s (%v)", name, took, err)
		}
	}
}

// Many replies with many changes each are folded in a time that grows with their
// number.
func TestManyChangesFold(t *testing.T) {
	began := time.Now()
	f := Begin(mustDecode(t, toolCall(objectOf(2000))), FoldOptions{})
	for i := range prove.Size(20, 100) {
		changes := strings.ReplaceAll(objectOf(250), ":", fmt.Sprintf(":%d", i+1))
		f, _ = f.Add(says(hook(fmt.Sprint(i), CanModify), Reply{Action: Modify, Changes: RawMessage(`{"args":` + changes + `}`)}))
		f.SoFar()
	}
	if took := time.Since(began); took > patience() {
		t.Errorf("took %s", took)
	}
}

// Operations do what RFC 6902 says.
func TestPatchesAreApplied(t *testing.T) {
	for _, tc := range []struct{ args, patch, want, fails string }{
		{`{"a":1}`, `[{"op":"add","path":"/args/b","value":2}]`, `{"a":1,"b":2}`, ""},
		{`{"a":1}`, `[{"op":"add","path":"/args/a","value":2}]`, `{"a":2}`, ""},
		{`{"l":[1,2]}`, `[{"op":"add","path":"/args/l/1","value":9},{"op":"add","path":"/args/l/-","value":8}]`, `{"l":[1,9,2,8]}`, ""},
		{`{"l":[1,2]}`, `[{"op":"add","path":"/args/l/3","value":9}]`, "", "no place in a list of 2"},
		{`{"l":[1,2]}`, `[{"op":"add","path":"/args/l/01","value":9}]`, "", "no place"},
		{`{"l":[1,2]}`, `[{"op":"remove","path":"/args/l/0"}]`, `{"l":[2]}`, ""},
		{`{"a":1,"b":2}`, `[{"op":"remove","path":"/args/a"},{"op":"add","path":"/args/a","value":3}]`, `{"a":3,"b":2}`, ""},
		{`{"a":1}`, `[{"op":"remove","path":"/args/x"}]`, "", "nothing at /args/x"},
		{`{"a":1}`, `[{"op":"replace","path":"/args/x","value":1}]`, "", "nothing at /args/x"},
		{`{"a":{"x":[1]}}`, `[{"op":"move","from":"/args/a/x","path":"/args/y"}]`, `{"a":{},"y":[1]}`, ""},
		{`{"a":{"x":[1]}}`, `[{"op":"move","from":"/args/a","path":"/args/a/x"}]`, "", "into itself"},
		{`{"a":{"x":[1]}}`, `[{"op":"copy","from":"/args/a","path":"/args/b"},{"op":"add","path":"/args/b/x/-","value":2}]`, `{"a":{"x":[1]},"b":{"x":[1,2]}}`, ""},
		{`{"a~/b":{"":1}}`, `[{"op":"replace","path":"/args/a~0~1b/","value":2}]`, `{"a~/b":{"":2}}`, ""},
		{`{"a":{"x":1,"y":2}}`, `[{"op":"test","path":"/args/a","value":{"y":2,"x":1}},{"op":"add","path":"/args/b","value":1}]`, `{"a":{"x":1,"y":2},"b":1}`, ""},
		{`{"a":1}`, `[{"op":"add","path":"/args/b","value":1},{"op":"test","path":"/args/a","value":2}]`, "", "patch/1: test failed"},
		{`{"a":"text"}`, `[{"op":"add","path":"/args/a/x","value":1}]`, "", "neither an object nor a list"},
	} {
		ev := Event{Event: ToolCallStart, Data: RawMessage(bigCall(tc.args))}
		after, _, err := Apply(ev, HookInfo{Name: "h", Layer: Project, Class: CanModify}, Reply{Action: Modify, Patch: RawMessage(tc.patch)}, DecodeLimits{})
		if tc.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: %v, want %s", tc.patch, err, tc.fails)
			}
			continue
		}
		if err != nil || string(jsonspan.Get(after.Data, "args")) != tc.want {
			t.Errorf("%s: %s, %v; want %s", tc.patch, jsonspan.Get(after.Data, "args"), err, tc.want)
		}
	}
}

// Whatever random operations a patch has, applying it is done within its bounds.
func TestRandomPatchesAreBounded(t *testing.T) {
	ops := []string{"add", "remove", "replace", "move", "copy", "test"}
	paths := []string{"/args/l", "/args/l/0", "/args/l/-", "/args/l/2999", "/args/o", "/args/o/k7", "/args/o/new", "/args/l/0/x"}
	pick := func(list []string) string { return list[rand.N(len(list))] }
	for range 30 {
		patch := operations(5000, func(int) string {
			return fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":{"x":[1]}}`, pick(ops[:3+rand.N(4)]), pick(paths), pick(paths))
		})
		ev := Event{Event: ToolCallStart, Data: RawMessage(bigCall(`{"l":[` + strings.Repeat("0,", 3000) + `0],"o":` + objectOf(3000) + `}`))}
		began := time.Now()
		Apply(ev, HookInfo{Name: "h", Layer: Project, Class: CanModify}, Reply{Action: Modify, Patch: RawMessage(patch)}, DecodeLimits{})
		if took := time.Since(began); took > patience() {
			t.Fatalf("took %s: %.300s", took, patch)
		}
	}
}

// Many answers take time that grows with their number, not with its square: ten
// thousand entries in the settings of a project are ten thousand failures.
func TestManyAnswersAreFolded(t *testing.T) {
	f := Begin(mustDecode(t, toolCall(`{}`)), FoldOptions{})
	began, hook := time.Now(), hook("guard", CanBlock, rule(RuleBlock))
	for range 50_000 {
		f, _ = f.Add(fails(hook, FailUntrusted))
	}
	if o := f.Outcome(); len(o.Runs) != 50_000 || o.Action != Block {
		t.Errorf("%d runs, %s", len(o.Runs), o.Action)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestTouchedFollowsTheArgs asserts that a hook reads where the args lead as they are
// now, and never where they led before.
func TestTouchedFollowsTheArgs(t *testing.T) {
	data := `{"toolCallId":"c","name":"read_file","kind":"read","args":{"path":"a"}, "realPath":"/p/a","links":2,"otherPaths":["/p/b"],"x":1.0,"parallel":1}`
	ev := Event{Protocol: Version, Event: ToolCallStart, Data: RawMessage(data)}
	const changed = `{"changes":{"args":{"path":"c"}}}`

	after, _, err := apply(t, ev, changed)
	want := `{"toolCallId":"c","name":"read_file","kind":"read","args":{"path":"c"},"x":1.0,"parallel":1}`
	if err != nil || string(after.Data) != want {
		t.Errorf("where nobody knows: %s, %v", after.Data, err)
	}

	asked := ""
	ev.Touches = func(args RawMessage) Touched {
		asked = string(args)
		return Touched{RealPath: "/p/<c>"}
	}
	after, changes, err := apply(t, ev, changed)
	if err != nil || jsonspan.Text(jsonspan.Get(after.Data, "realPath")) != "/p/<c>" || jsonspan.Get(after.Data, "links") != nil || strings.Count(string(after.Data), "realPath") != 1 {
		t.Errorf("where the host knows: %s, %v", after.Data, err)
	}
	if asked != `{"path":"c"}` || len(changes) != 1 || changes[0].Path != "/args/path" {
		t.Errorf("asked about %s, changes %v", asked, changes)
	}
	if err := CheckData(Lookup(ToolCallStart), after.Data); err != nil {
		t.Error(err)
	}

	for _, reply := range []string{
		`{"changes":{"realPath":"/etc/passwd"}}`, `{"changes":{"links":1}}`, `{"changes":{"otherPaths":[]}}`,
		`{"patch":[{"op":"remove","path":"/realPath"}]}`, `{"patch":[{"op":"replace","path":"/realPath","value":"/p/x"}]}`,
	} {
		if after, _, err := apply(t, ev, reply); err == nil || string(after.Data) != data {
			t.Errorf("%s: %s", reply, after.Data)
		}
	}

	plain := Event{Protocol: Version, Event: ToolCallStart, Data: RawMessage(`{ "toolCallId":"c", "name":"x","kind":"other","args":{"path":"a"},"parallel":1 }`)}
	if after, _, err := apply(t, plain, changed); err != nil || string(after.Data) != `{ "toolCallId":"c", "name":"x","kind":"other","args":{"path":"c"},"parallel":1 }` {
		t.Errorf("bytes of another tool's event changed: %s, %v", after.Data, err)
	}
}
