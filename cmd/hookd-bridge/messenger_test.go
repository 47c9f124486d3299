package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/bridge"
	"github.com/hookd-dev/hookd/protocol"
)

// The start of the messenger is what a bridge costs: it links next to nothing.
func TestMessengerIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/hookd-dev/hookd/"
	var ours, others []string
	for _, p := range strings.Fields(string(out)) {
		if own, is := strings.CutPrefix(p, module); is {
			ours = append(ours, own)
		} else if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") && !strings.HasPrefix(p, "golang.org/x/sys/") {
			others = append(others, p)
		}
		if slices.Contains([]string{"net", "encoding/json", "encoding/json/v2", "context", "fmt", "os/exec", "crypto", "text/template", "regexp"}, p) {
			others = append(others, p)
		}
	}
	slices.Sort(ours)
	want := []string{"cmd/hookd-bridge", "internal/program", "protocol/rpc/socket/meet"}
	if d := cmp.Diff(want, ours); d != "" || others != nil {
		t.Errorf("it links %v\n%s", others, d)
	}
	program := filepath.Join(t.TempDir(), "hookd-bridge")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil || info.Size() > 2<<20 {
		t.Errorf("it has %d bytes, %v", info.Size(), err)
	}
}

// What the messenger knows of the packages that it does not link is what they say.
func TestMessengerKnowsTheLimits(t *testing.T) {
	if mostAlone != protocol.DefaultEventSize+1 {
		t.Errorf("mostAlone is %d, an event may have %d bytes", mostAlone, protocol.DefaultEventSize)
	}
	a := arguments{agent: "claude", limit: time.Minute}
	if got, want := a.ownTime(), time.Duration(bridge.OwnShare*float64(time.Minute)); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestParse(t *testing.T) {
	for line, want := range map[string]arguments{
		"claude":                                  {agent: "claude"},
		"claude PreToolUse":                       {agent: "claude", event: "PreToolUse"},
		"claude --limit 60s PreToolUse --start":   {agent: "claude", event: "PreToolUse", limit: time.Minute, start: true},
		"--limit=1.5s copilot agentStop":          {agent: "copilot", event: "agentStop", limit: 1500 * time.Millisecond},
		"claude PreToolUse --start --limit=600ms": {agent: "claude", event: "PreToolUse", limit: 600 * time.Millisecond, start: true},
	} {
		if got, understood := parse(strings.Fields(line)); !understood || got != want {
			t.Errorf("%q: %+v, %v", line, got, understood)
		}
	}
	for _, line := range []string{"", "--start", "claude a b", "claude --limit", "claude --limit=", "claude --limit=0s", "claude --limit=-1s", "claude --limit=1x", "claude --x", "claude -h"} {
		if got, understood := parse(strings.Fields(line)); understood {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

// What the table does not have is refused, within the agent's shortest limit.
func TestRefusalOfTheUnknown(t *testing.T) {
	calls := []arguments{{agent: "nobody", event: "PreToolUse"}}
	for _, known := range refusals {
		calls = append(calls, arguments{agent: known.agent}, arguments{agent: known.agent, event: "NoSuchEvent"})
	}
	for _, a := range calls {
		r := a.refusal()
		if r.exit == 0 && r.stdout == "" || !strings.Contains(r.stdout+r.stderr, "REASON") || r.limit <= 0 {
			t.Errorf("%+v: %+v", a, r)
		}
		for _, known := range refusals {
			if known.agent == a.agent && known.limit < r.limit {
				t.Errorf("%+v: %v, and %s has %v", a, r.limit, known.event, known.limit)
			}
		}
	}
}

// The call is JSON that says what was given, byte for byte.
func TestEncode(t *testing.T) {
	e := event{agent: "claude", name: "x\"\\", cwd: "/a b\n\x01é", leftMs: 48000, environ: []string{"A=1", "B=\t\x7f", ""}, input: []byte("{\xff\n}")}
	line, err := e.encode()
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		JSONRPC string
		ID      int
		Method  string
		Params  struct {
			Version, Agent, Event, Cwd string
			LeftMs                     int64
			Environ                    []string
			Input                      []byte
		}
	}
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	p := m.Params
	if m.JSONRPC != "2.0" || m.Method != "bridge/event" || p.Agent != e.agent || p.Event != e.name || p.Cwd != e.cwd || p.LeftMs != e.leftMs ||
		!slices.Equal(p.Environ, e.environ) || !bytes.Equal(p.Input, e.input) || p.Version != version {
		t.Errorf("%s: %+v", line, m)
	}
	if n := bytes.Count(line, []byte("\n")); n != 1 {
		t.Errorf("%d lines", n)
	}
	e.environ = []string{"A=\xff"}
	if line, err := e.encode(); err == nil {
		t.Errorf("not UTF-8: %q", line)
	}
}

// Only the daemon's own form is an answer. Anything else is none, and never a pass.
func TestDecode(t *testing.T) {
	const whole = `{"jsonrpc":"2.0","id":1,"result":{"exit":2,"stdout":"e30=","stderr":"bm8="}}`
	r, answered, err := decode([]byte(whole))
	if err != nil || !answered || r.exit != 2 || string(r.stdout) != "{}" || string(r.stderr) != "no" {
		t.Errorf("%+v, %v, %v", r, answered, err)
	}
	for _, line := range []string{`{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","method":"hooks/changed","params":{}}`} {
		if _, answered, err := decode([]byte(line)); answered || err != nil {
			t.Errorf("%s: %v, %v", line, answered, err)
		}
	}
	bad := []string{
		"", "x", `{}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":""}}`, `{"jsonrpc":"2.0","id":null,"error":{}}`,
		strings.Replace(whole, `"id":1`, `"id":3`, 1), strings.Replace(whole, "2,", "-1,", 1), strings.Replace(whole, "2,", "256,", 1),
		strings.Replace(whole, "2,", ",", 1), strings.Replace(whole, "bm8=", "bm8", 1), strings.Replace(whole, "e30=", "*", 1), whole + " ",
	}
	for i := range whole {
		bad = append(bad, whole[:i])
	}
	for _, line := range bad {
		if r, answered, err := decode([]byte(line)); answered || err == nil {
			t.Errorf("%q: %+v, %v, %v", line, r, answered, err)
		}
	}
}

// Whatever a line holds, what counts as an answer is the daemon's form of it.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"exit":2,"stdout":"e30=","stderr":""}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"exit":0,"stdout":"","stderr":"","stderr":""}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"result":{}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, answered, err := decode(line)
		if !answered || err != nil {
			return
		}
		again := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"exit":%d,"stdout":"%s","stderr":"%s"}}`, r.exit,
			base64.StdEncoding.EncodeToString(r.stdout), base64.StdEncoding.EncodeToString(r.stderr))
		if again != string(line) {
			t.Errorf("%q counts as %q", line, again)
		}
	})
}
