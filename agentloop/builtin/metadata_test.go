package builtin_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/protocol"
)

// results are what the model read of its calls, in the order of the calls' ids.
func results(t *testing.T, p *scriptedRun) map[string]string {
	t.Helper()
	read := map[string]string{}
	for i := range p.yields {
		ev := &p.yields[i].Event
		var data struct {
			ID     string             `json:"toolCallId"`
			Result protocol.Result    `json:"result"`
			Error  protocol.CallError `json:"error"`
		}
		switch ev.Event {
		case protocol.ToolCallEnd, protocol.ToolCallError:
			if err := json.Unmarshal(ev.Data, &data); err != nil {
				t.Fatal(err)
			}
			text := data.Result.Content.Text() + data.Error.Text
			if data.Result.IsError || ev.Event == protocol.ToolCallError {
				text = "error: " + text
			}
			read[data.ID] = text
		}
	}
	return read
}

const notesScript = `
turns:
- toolCalls:
  - {id: w1, name: metadata_write, args: {key: plan, value: {steps: [1, 2]}}}
  - {id: w2, name: metadata_write, args: {key: big, value: "%BIG%"}}
- toolCalls:
  - {id: r1, name: metadata_read, args: {key: plan}}
  - {id: r2, name: metadata_read, args: {key: nope}}
  - {id: r3, name: metadata_read, args: {hook: counter}}
  - {id: r4, name: metadata_read, args: {hook: nobody}}
  - {id: l1, name: metadata_list, args: {}}
  - {id: w3, name: metadata_write, args: {key: plan}}
- toolCalls:
  - {id: r5, name: metadata_read, args: {key: plan}}
  - {id: l2, name: metadata_list, args: {}}
- text: done
`

// counter is a hook that keeps metadata of its own, and sees the others'.
func counter(seen *string) protocol.GoHook {
	return protocol.GoHook{
		Name: "counter", Layer: protocol.User, Events: []protocol.EventName{protocol.AgentStart, protocol.AgentEnd}, Can: protocol.CanBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			*seen = string(ev.Metadata)
			return protocol.Reply{Metadata: []byte(`{"n":1}`)}, nil
		},
	}
}

func TestMetadata(t *testing.T) {
	var seen string
	p := runScript(t, strings.ReplaceAll(notesScript, "%BIG%", strings.Repeat("x", 20)), []agentloop.Provider{builtin.Metadata(0)}, counter(&seen))
	if p.err != nil {
		t.Fatal(p.err)
	}
	want := map[string]string{
		"w1": "kept plan", "w2": "kept big", "w3": "removed plan",
		"r1": `{"steps":[1,2]}`,
		"r2": `error: there is no note "nope"; there are: big (22 bytes), plan (15 bytes)`,
		"r3": `{"n":1}`,
		"r4": `error: there is no hook "nobody"; there are: counter (7 bytes)`,
		"l1": "your notes: big (22 bytes), plan (15 bytes)\nhooks that keep something: counter (7 bytes)",
		"r5": `error: there is no note "plan"; there are: big (22 bytes)`,
		"l2": "your notes: big (22 bytes)\nhooks that keep something: counter (7 bytes)",
	}
	if diff := cmp.Diff(want, results(t, &p)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if want := `"metadata":{"big":"xxxxxxxxxxxxxxxxxxxx"}`; !strings.Contains(seen, want) {
		t.Errorf("other hooks see %s", seen)
	}
}

func TestMetadataIsBounded(t *testing.T) {
	var seen string
	p := runScript(t, strings.ReplaceAll(notesScript, "%BIG%", strings.Repeat("x", 20_000)), []agentloop.Provider{builtin.Metadata(0)}, counter(&seen))
	got := results(t, &p)
	if !strings.HasPrefix(got["w2"], "error: not kept: your notes would have 200") || !strings.Contains(got["w2"], "may have 16384") {
		t.Errorf("too much: %q", got["w2"])
	}
	if got["r1"] != `{"steps":[1,2]}` || !strings.HasPrefix(got["l2"], "your notes: none") {
		t.Errorf("what was there: %q, %q", got["r1"], got["l2"])
	}
}

// Two writes side by side fit alone and not together: the one that ends last is
// an error.
func TestMetadataSideBySide(t *testing.T) {
	half := strings.Repeat("x", 10_000)
	p := runScript(t, `
turns:
- toolCalls:
  - {id: a, name: metadata_write, args: {key: a, value: "`+half+`"}}
  - {id: b, name: metadata_write, args: {key: b, value: "`+half+`"}}
- toolCalls:
  - {id: l, name: metadata_list, args: {}}
- text: done
`, []agentloop.Provider{builtin.Metadata(0)})
	got := results(t, &p)
	errors := strings.Count(got["a"]+got["b"], "error: not kept")
	if errors != 1 || strings.Count(got["l"], "10002 bytes") != 1 {
		t.Errorf("%d errors, then %s", errors, got["l"])
	}
}

// A write that a hook refuses is not kept. One whose result is withheld is: the
// tool has done its work then, as any other.
func TestMetadataRefused(t *testing.T) {
	for event, want := range map[protocol.EventName]string{protocol.ToolCallStart: "your notes: none", protocol.ToolCallEnd: "your notes: a (1 bytes)"} {
		t.Run(string(event), func(t *testing.T) {
			refuses := protocol.GoHook{
				Name: "guard", Layer: protocol.User, Events: []protocol.EventName{event}, Match: protocol.Match{Tool: []string{"metadata_write"}}, Can: protocol.CanBlock,
				Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
					return protocol.Reply{Action: protocol.Block, Reason: "no notes"}, nil
				},
			}
			p := runScript(t, `
turns:
- toolCalls: [{id: a, name: metadata_write, args: {key: a, value: 1}}]
- toolCalls: [{id: l, name: metadata_list, args: {}}]
- text: done
`, []agentloop.Provider{builtin.Metadata(0)}, refuses)
			if got := results(t, &p)["l"]; !strings.HasPrefix(got, want) {
				t.Errorf("after a refusal: %s", got)
			}
		})
	}
}
