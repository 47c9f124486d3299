package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

var (
	update = flag.Bool("update", false, "write the golden files anew")
	limits = protocol.DecodeLimits{Size: protocol.DefaultEventSize, Depth: 512}
)

// inputs are the files below testdata/AGENT that an agent wrote to a hook's stdin.
func inputs(t *testing.T, a *Agent) (paths []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", a.Name, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// eventOf is the agent's name of the event that a file is about.
func eventOf(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// TestReadCaptured: what real agents sent becomes our event, with data that our own
// check accepts and the agent's bytes in it.
func TestReadCaptured(t *testing.T) {
	unmapped := map[string][]string{}
	for _, a := range Agents {
		files := inputs(t, a)
		if a.Tier == Captured && len(files) == 0 {
			t.Errorf("%s is marked as captured and has no inputs", a.Name)
		}
		for _, path := range files {
			t.Run(a.Name+"/"+filepath.Base(path), func(t *testing.T) {
				stdin, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				call, err := a.Read(eventOf(path), stdin, limits)
				var unknown *UnknownEventError
				if errors.As(err, &unknown) {
					unmapped[a.Name] = append(unmapped[a.Name], unknown.Event)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				spec := call.Event.Spec()
				call.Event.Data = protocol.Complete(spec, call.Event.Data)
				if err := protocol.CheckData(spec, call.Event.Data); err != nil {
					t.Fatal(err)
				}
				if call.Event.Session.ID == "" || call.Event.Cwd == "" && a.Name != "windsurf" || call.Event.Agent.Host != a.Name {
					t.Errorf("session %q, cwd %q, host %q", call.Event.Session.ID, call.Event.Cwd, call.Event.Agent.Host)
				}
				if host := jsonspan.Get(call.Event.Data, "host"); !jsonspan.Equal(host, jsonspan.Trim(stdin)) {
					t.Errorf("host is %s", host)
				}
				golden(t, strings.TrimSuffix(path, ".json")+".event.golden", shown(t, call))
			})
		}
	}
	for name, events := range unmapped {
		slices.Sort(events)
		t.Logf("%s: without a row %s", name, strings.Join(slices.Compact(events), " "))
	}
}

// shown is the event in the parts that a dialect decides, without the host's bytes.
func shown(t *testing.T, c *Call) []byte {
	t.Helper()
	var out bytes.Buffer
	e := &c.Event
	text, err := json.Marshal(map[string]any{
		"event": e.Event, "session": e.Session, "agent": e.Agent, "cwd": e.Cwd, "data": json.RawMessage(jsonspan.Without(e.Data, "host")),
	})
	if err == nil {
		err = json.Indent(&out, text, "", "  ")
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
	}
}

// FuzzBridge: whatever an agent writes, an event that can be refused is never answered
// with a yes when it could not be read, and nothing panics.
func FuzzBridge(f *testing.F) {
	for i, a := range Agents {
		files, _ := filepath.Glob(filepath.Join("testdata", a.Name, "*.json"))
		for _, path := range files {
			if text, err := os.ReadFile(path); err == nil {
				f.Add(uint8(i), eventOf(path), text)
				f.Add(uint8(i), "", text[:len(text)/2])
			}
		}
	}
	f.Fuzz(func(t *testing.T, agent uint8, name string, stdin []byte) {
		a := Agents[int(agent)%len(Agents)]
		call, err := a.Read(name, stdin, limits)
		if err != nil {
			answer := a.Refuse(name, err)
			var unknown *UnknownEventError
			if row := a.Row(name); !errors.As(err, &unknown) && (row == nil && name == "" || row != nil && row.Can.Block.Possible()) && answer.Exit == 0 && len(answer.Stdout) == 0 {
				var input *InputError
				if errors.As(err, &input) && input.Event != "" && !a.Row(input.Event).Can.Block.Possible() {
					return
				}
				t.Errorf("%s %s: %v passes", a.Name, name, err)
			}
			return
		}
		call.Event.Data = protocol.Complete(call.Event.Spec(), call.Event.Data)
		if err := protocol.CheckData(call.Event.Spec(), call.Event.Data); err != nil {
			t.Errorf("%s %s: %v", a.Name, name, err)
		}
		for _, p := range parts {
			out := protocol.Outcome{Action: protocol.Observe, Event: call.Event}
			if p.say(&out) {
				answer := call.Answer(&out)
				if p.name == "block" && call.Row.Can.Block.Possible() && answer.Exit == 0 && !bytes.Contains(answer.Stdout, []byte("MARK")) {
					t.Errorf("%s %s: a block passes: %q", a.Name, name, answer.Stdout)
				}
			}
		}
	})
}
