package protocol

import (
	"errors"
	"strings"
	"testing"
)

func TestModifyDataKeepsWhatItDoesNotKnow(t *testing.T) {
	const data = `{"model":"m","system":"s","messages":[{"role":"user","content":"a","mine":1.10},{"role":"user","content":[{"type":"text","text":"b","x":2}]}],` +
		`"tools":[{"name":"a","description":"","schema":{},"more":1.0},{"name":"b","description":"","schema":{},"more":2.50}],"params":{"top_k":1.0},"attempt":1,"later":{"n":9007199254740993}}`
	for name, test := range map[string]struct {
		edit func(d *InferenceStartData)
		want string // in the data afterwards
		gone string
	}{
		"a text":                 {func(d *InferenceStartData) { d.System = "t" }, `"system":"t"`, `"system":"s"`},
		"a removed tool":         {func(d *InferenceStartData) { d.Tools = d.Tools[1:] }, `"more":2.50`, `"more":1.0,`},
		"tools in another order": {func(d *InferenceStartData) { d.Tools[0], d.Tools[1] = d.Tools[1], d.Tools[0] }, `{"name":"b","description":"","schema":{},"more":2.50},{"name":"a","description":"","schema":{},"more":1.0}`, ""},
		"a tool added in front": {func(d *InferenceStartData) {
			d.Tools = append([]Tool{{Name: "c", Schema: RawMessage("{}")}}, d.Tools...)
		}, `{"name":"b","description":"","schema":{},"more":2.50}`, ""},
		"a parameter": {func(d *InferenceStartData) { one := 1.5; d.Params.Temperature = &one }, `"temperature":1.5`, ""},
	} {
		ev := Event{Event: InferenceStart, Data: RawMessage(data)}
		reply, err := ModifyData(&ev, func(d *InferenceStartData) error { test.edit(d); return nil })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after, _, err := Apply(ev, HookInfo{Name: "h", Layer: User, Class: CanModify}, reply, DecodeLimits{})
		if err != nil {
			t.Fatalf("%s: %s: %v", name, reply.Patch, err)
		}
		got := string(after.Data)
		if !strings.Contains(got, test.want) || test.gone != "" && strings.Contains(got, test.gone) {
			t.Errorf("%s: %s", name, got)
		}
		for _, kept := range []string{`"mine":1.10`, `"x":2`, `"top_k":1.0`, `9007199254740993`, `"more":2.50`} {
			if !strings.Contains(got, kept) {
				t.Errorf("%s: lost %s in %s", name, kept, got)
			}
		}
	}
}

// An error of a helper never comes with a reply that lets the event pass.
func TestTypedHelpersFail(t *testing.T) {
	ev := Event{Event: ToolCallStart, Data: RawMessage(`{"toolCallId":"c","name":"bash","kind":"shell","args":{"command":1},"parallel":1}`)}
	if _, err := ReadData[PromptSubmitData](&ev); err == nil || !strings.Contains(err.Error(), "not the data of tool-call-start") {
		t.Errorf("another event's data: %v", err)
	}
	type args struct {
		Command string `json:"command"`
	}
	if _, err := ReadArgs[args](&ev); err == nil {
		t.Error("a number is read as a text")
	}
	if _, err := ReadArgs[args](&Event{Event: PromptSubmit, Data: RawMessage(`{}`)}); err == nil {
		t.Error("args of an event without")
	}
	fault := errors.New("no")
	for name, reply := range map[string]func() (Reply, error){
		"wrong type":    func() (Reply, error) { return ModifyArgs(&ev, func(*args) error { return nil }) },
		"edit fails":    func() (Reply, error) { return ModifyData(&ev, func(*ToolCallStartData) error { return fault }) },
		"no edit":       func() (Reply, error) { return ModifyData[ToolCallStartData](&ev, nil) },
		"another event": func() (Reply, error) { return ModifyData(&ev, func(*PromptSubmitData) error { return nil }) },
		"unwritable": func() (Reply, error) {
			return ModifyData(&ev, func(d *ToolCallStartData) error { d.Args = RawMessage("{"); return nil })
		},
		"state": func() (Reply, error) { return Reply{Action: Block}.WithState(make(chan int)) },
	} {
		if got, err := reply(); err == nil || got.Action != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := NewEvent("tool-call-strat", nil); err == nil || !strings.Contains(err.Error(), "tool-call-start") {
		t.Errorf("unknown event: %v", err)
	}
	if _, err := NewEvent(ToolCallStart, PromptSubmitData{}); err == nil {
		t.Error("an event with another one's data")
	}
}

func TestReadState(t *testing.T) {
	type count struct{ N int }
	reply, err := Reply{}.WithState(count{3})
	if err != nil {
		t.Fatal(err)
	}
	if got, found, err := ReadState[count](&Event{State: reply.State}); got.N != 3 || !found || err != nil {
		t.Errorf("%v %v %v", got, found, err)
	}
	for _, none := range []RawMessage{nil, RawMessage("null")} {
		if _, found, err := ReadState[count](&Event{State: none}); found || err != nil {
			t.Errorf("%s: %v %v", none, found, err)
		}
	}
}
