package jsonsession

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
)

// TestRunJSONPageIsCurrent holds each example line of the page to the types:
// nothing unknown in it, and written again it is the same.
func TestRunJSONPageIsCurrent(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "run-json.md"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func() any{
		"session": func() any { return &sessionOpened{} }, "delta": func() any { return &runview.DeltaLine{} }, "dropped": func() any { return &runview.DroppedLine{} },
		"output": func() any { return &runview.OutputLine{} }, "question": func() any { return &questionLine{} }, "withdrawn": func() any { return &withdrawnLine{} },
		"result": func() any { return &runview.ResultLine{} }, "error": func() any { return &errorLine{} },
	}
	inputs, shown := 0, map[string]bool{}
	for _, block := range strings.Split(string(page), "```jsonl\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			var head struct {
				Kind string `json:"kind"`
			}
			if err := json.Unmarshal([]byte(line), &head); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if head.Kind == "" {
				inputs++
				if _, fault := decodeInput([]byte(line)); fault != nil {
					t.Errorf("%s: %s", line, fault.Message)
				}
				continue
			}
			if kinds[head.Kind] == nil {
				t.Errorf("%s: nothing writes this kind", line)
				continue
			}
			value := kinds[head.Kind]()
			shown[head.Kind] = true
			if err := json.Unmarshal([]byte(line), value, json.RejectUnknownMembers(true)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			again, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(line, string(again)); diff != "" {
				t.Errorf("a line of kind %s (-page +written):\n%s", head.Kind, diff)
			}
		}
	}
	for kind := range kinds {
		if !shown[kind] || !strings.Contains(string(page), "| `"+kind+"` |") {
			t.Errorf("the page does not show kind %s", kind)
		}
	}
	if inputs < 3 {
		t.Errorf("%d lines of input", inputs)
	}
}

func TestDecodeInput(t *testing.T) {
	for text, want := range map[string]string{
		`{"prompt":"x"}`: "",
		`{"prompt":"","attachments":[{"type":"text","text":"x"}]}`: "",
		`{"abort":true}`:                  "",
		`{"answer":{"optionId":"allow"}}`: "",
		`hello`:                           "not JSON",
		`"hello"`:                         "no string belongs here",
		`{}`:                              "exactly one thing",
		`{"abort":false}`:                 "exactly one thing",
		`{"prompt":"x","abort":true}`:     "exactly one thing",
		`{"prompt":""}`:                   "empty",
		`{"Prompt":"x"}`:                  "/Prompt",
		`{"prompt":"x","prompt":"y"}`:     "duplicate",
		`{"prompt":7}`:                    "/prompt",
		`{"answer":"yes"}`:                "/answer",
		`{"abort":true,"attachments":[{"type":"text","text":"x"}]}`:     "go with a prompt",
		`{"prompt":"x","attachments":[{"type":"toolCall","name":"x"}]}`: "no kind of attachment",
		`{"prompt":"x"} {"prompt":"y"}`:                                 "not JSON",
	} {
		_, fault := decodeInput([]byte(text))
		switch {
		case fault == nil && want != "":
			t.Errorf("%s: taken, want %q", text, want)
		case fault != nil && (want == "" || !strings.Contains(fault.Message, want)):
			t.Errorf("%s: %q, want %q", text, fault.Message, want)
		case fault != nil && strings.Contains(fault.Message, "jsonsession."):
			t.Errorf("%s: a Go type is told: %q", text, fault.Message)
		}
	}
}

func FuzzDecodeInput(f *testing.F) {
	f.Add([]byte(`{"prompt":"x","attachments":[{"type":"image","data":"aa"}]}`))
	f.Add([]byte(`{"answer":{"id":"1","optionId":"allow","text":"\ud800"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		input, fault := decodeInput(text)
		if (input == nil) == (fault == nil) {
			t.Errorf("%q: %v, %v", text, input, fault)
		}
		if fault != nil && fault.Message == "" {
			t.Errorf("%q: refused without a word", text)
		}
	})
}

func TestReadInput(t *testing.T) {
	long := strings.Repeat("x", maxLine+1)
	lines := make(chan inputLine)
	go readInput(strings.NewReader("a\n\n"+long+"\nlast"), lines)
	var got []string
	for line := range lines {
		text := strings.TrimSpace(string(line.text))
		if line.err != nil {
			text = line.err.Error()
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{"a", errLongLine.Error(), "last"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An answer that names no question answers none: it could be meant for an earlier one.
func TestAnAnswerNamesItsQuestion(t *testing.T) {
	reply := make(chan agentloop.Answer, 1)
	d := &session{asked: map[string]chan agentloop.Answer{"q2": reply}}
	for _, id := range []string{"", "q1"} {
		if fault := d.answer(&answer{ID: id, OptionID: "allow"}); fault == nil || fault.Code != "no-question" {
			t.Errorf("an answer to %q: %v", id, fault)
		}
	}
	if fault := d.answer(&answer{ID: "q2", OptionID: "allow"}); fault != nil || (<-reply).OptionID != "allow" {
		t.Errorf("the answer to the question: %v", fault)
	}
}
