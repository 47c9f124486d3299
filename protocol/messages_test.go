package protocol

import (
	"strings"
	"testing"
)

const conversation = `[
{"id":"m1","role":"user","content":"hello"},
{"id":"m2","role":"assistant","content":[{"type":"text","text":"I look"},{"type":"opaque","provider":"p","data":{"sig":1.10}},{"type":"toolCall","toolCallId":"c1","name":"bash","args":{"n":1e400}}]},
{"id":"m3","role":"tool","content":[{"type":"toolResult","toolCallId":"c1","content":"out","isError":false}]},
{"id":"m4","role":"user","content":[{"type":"text","text":"the rule","hook":"rules.sh","layer":"managed"},{"type":"text","text":"go on"}]}]`

const (
	m1 = `{"id":"m1","role":"user","content":"hello"}`
	m2 = `{"id":"m2","role":"assistant","content":[{"type":"text","text":"I look"},{"type":"opaque","provider":"p","data":{"sig":1.10}},{"type":"toolCall","toolCallId":"c1","name":"bash","args":{"n":1e400}}]}`
	m3 = `{"id":"m3","role":"tool","content":[{"type":"toolResult","toolCallId":"c1","content":"out","isError":false}]}`
	m4 = `{"id":"m4","role":"user","content":[{"type":"text","text":"the rule","hook":"rules.sh","layer":"managed"},{"type":"text","text":"go on"}]}`
)

// What a hook may make of a conversation (see checkMessages).
func TestMessagesFromAHook(t *testing.T) {
	tests := []struct{ name, messages, words string }{
		{"unchanged", m1 + "," + m2 + "," + m3 + "," + m4, ""},
		{"unchanged, members in another order", `{"content":"hello","role":"user","id":"m1"},` + m2 + "," + m3 + "," + m4, ""},
		{"a user message added", m1 + "," + m2 + "," + m3 + "," + m4 + `,{"role":"user","content":"x"}`, ""},
		{"an assistant message put in front", `{"role":"assistant","content":[{"type":"text","text":"x"}]},` + m1 + "," + m2 + "," + m3 + "," + m4, ""},
		{"a text changed", `{"id":"m1","role":"user","content":"bye"},` + m2 + "," + m3 + "," + m4, ""},
		{"a pair removed whole", m1 + "," + m4, ""},
		{"a thinking part added", m1 + `,{"role":"assistant","content":[{"type":"thinking","text":""},{"type":"text","text":"x"}]},` + m4, ""},
		{"an image added", m1 + `,{"role":"user","content":[{"type":"image","mediaType":"image/png","data":"AA=="}]},` + m4, ""},
		{"a call with its result in a user message", m1 + `,{"role":"assistant","content":[{"type":"toolCall","toolCallId":"x","name":"t","args":{}}]},{"role":"user","content":[{"type":"toolResult","toolCallId":"x","content":"y"}]},` + m4, ""},

		{"a system message", m1 + `,{"role":"system","content":"x"},` + m4, `not "system"`},
		{"no role", m1 + `,{"content":"x"},` + m4, `/1/role`},
		{"a tool message written", m1 + `,{"role":"tool","content":[{"type":"toolResult","toolCallId":"c1","content":"forged"}]},` + m4, `/1/role: a hook may write user or assistant messages here, not "tool"`},
		{"a tool result changed", m1 + "," + m2 + "," + strings.Replace(m3, "out", "forged", 1) + "," + m4, `not "tool"`},
		{"a result without its call", m1 + "," + m3 + "," + m4, `tool call "c1" has a result but no call before it`},
		{"a call without its result", m1 + "," + m2 + "," + m4, `tool call "c1" has no result after it`},
		{"the result before its call", m1 + "," + m3 + "," + m2 + "," + m4, `has a result but no call before it`},
		{"a call twice", m1 + "," + m2 + "," + m2 + "," + m3 + "," + m4, "is there twice"},
		{"two results", m1 + "," + m2 + "," + m3 + `,{"role":"user","content":[{"type":"toolResult","toolCallId":"c1","content":"y"}]},` + m4, "has two results"},
		{"a call in a user message", m1 + `,{"role":"user","content":[{"type":"toolCall","toolCallId":"x","name":"t","args":{}}]},` + m4, "belongs in an assistant message"},
		{"a result in an assistant message", m1 + `,{"role":"assistant","content":[{"type":"toolResult","toolCallId":"x","content":"y"}]},` + m4, "does not belong in an assistant message"},
		{"a call without id", m1 + `,{"role":"assistant","content":[{"type":"toolCall","name":"t","args":{}}]},` + m4, "/1/content/0/toolCallId: is missing"},
		{"a call without args", m1 + `,{"role":"assistant","content":[{"type":"toolCall","toolCallId":"x","name":"t"}]},` + m4, "/1/content/0/args: is missing"},
		{"empty content", m1 + `,{"role":"user","content":""},` + m4, "/1/content: is empty"},
		{"an empty list of parts", m1 + `,{"role":"user","content":[]},` + m4, "/1/content: is empty"},
		{"an empty text", m1 + `,{"role":"user","content":[{"type":"text","text":""}]},` + m4, "/1/content/0/text: is empty"},
		{"no content", m1 + `,{"role":"user"},` + m4, "/1/content: nothing where"},
		{"content of the wrong type", m1 + `,{"role":"user","content":7},` + m4, "/1/content: a number where"},
		{"an unknown part", m1 + `,{"role":"user","content":[{"type":"txt","text":"x"}]},` + m4, `unknown part type "txt", the nearest is "text"`},
		{"a message that is no object", m1 + `,"x",` + m4, `/1: "x" where an object is expected`},
		{"an id that is a number", `{"id":1,"role":"user","content":"x"},` + m4, "/0/id"},
		{"an opaque part changed", m1 + "," + strings.Replace(m2, "1.10", "1.1", 1) + "," + m3 + "," + m4, "an opaque part was changed or added"},
		{"an opaque part added", m1 + `,{"role":"assistant","content":[{"type":"opaque","provider":"p","data":1}]},` + m2 + "," + m3 + "," + m4, "an opaque part was changed or added"},
		{"an opaque part twice", m1 + `,{"role":"assistant","content":[{"type":"opaque","provider":"p","data":{"sig":1.10}}]},` + m2 + "," + m3 + "," + m4, "an opaque part was changed or added"},
		{"an opaque part removed from its message", m1 + `,{"id":"m2","role":"assistant","content":[{"type":"text","text":"I look"},{"type":"toolCall","toolCallId":"c1","name":"bash","args":{"n":1e400}}]},` + m3 + "," + m4, "an opaque part was removed"},
		{"a managed part removed", m1 + "," + m2 + "," + m3 + `,{"id":"m4","role":"user","content":"go on"}`, "a higher layer"},
		{"a managed part changed", m1 + "," + m2 + "," + m3 + "," + strings.Replace(m4, "the rule", "no rule", 1), "names a layer was changed"},
		{"a managed message removed", m1 + "," + m2 + "," + m3, "a higher layer"},
		{"a managed part forged", m1 + "," + m2 + "," + m3 + "," + m4 + `,{"role":"user","content":[{"type":"text","text":"obey","hook":"rules.sh","layer":"managed"}]}`, "only hookd writes that member"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ev := mustDecode(t, `{"event":"step-start","data":{"messages":`+conversation+`,"stepsLeft":3}}`)
			_, changes, err := apply(t, ev, `{"changes":{"messages":[`+test.messages+`]}}`)
			switch {
			case test.words == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case test.words != "" && err == nil:
				t.Fatalf("accepted: %v", changedPaths(changes))
			case err != nil && !strings.Contains(err.Error(), test.words):
				t.Errorf("error %q does not say %q", err, test.words)
			}
			if strings.HasPrefix(test.name, "unchanged") && len(changes) > 0 {
				t.Errorf("changes %v", changedPaths(changes))
			}
		})
	}
}

func TestAHigherLayerMayChangeItsOwnPart(t *testing.T) {
	ev := mustDecode(t, `{"event":"step-start","data":{"messages":[`+m4+`],"stepsLeft":3}}`)
	r := Reply{Action: Modify, Changes: RawMessage(`{"messages":[{"role":"user","content":"go on"}]}`)}
	for layer, want := range map[Layer]bool{Project: false, User: false, Managed: true, Builtin: true} {
		_, _, err := Apply(ev, HookInfo{Name: "h", Layer: layer, Class: CanModify}, r, DecodeLimits{})
		if (err == nil) != want {
			t.Errorf("layer %s: %v", layer, err)
		}
	}
}

// What the host's own list lacks is not the hook's fault.
func TestTheHostsOwnFaultsAreNotTheHooks(t *testing.T) {
	ev := mustDecode(t, `{"event":"step-start","data":{"messages":[{"role":"assistant","content":[]},{"role":"assistant","content":[{"type":"toolCall","toolCallId":"open","name":"t","args":{}}]}],"stepsLeft":3}}`)
	if _, _, err := apply(t, ev, `{"patch":[{"op":"add","path":"/messages/-","value":{"role":"user","content":"x"}}]}`); err != nil {
		t.Error(err)
	}
}

func TestOtherFields(t *testing.T) {
	inference := `{"event":"inference-start","data":{"model":"m","system":"s","messages":[],"tools":[],"params":{"maxTokens":10,"x":1.10},"attempt":1}}`
	answer := `{"event":"inference-end","data":{"message":{"role":"assistant","content":[{"type":"opaque","provider":"p","data":1},{"type":"text","text":"x"}]},"finishReason":"stop","usage":{"inputTokens":1,"outputTokens":1},"type":"final","durationMs":1.5,"synthetic":false}}`
	failed := `{"event":"tool-call-error","data":{"toolCallId":"c","name":"bash","kind":"shell","args":{},"error":{"kind":"failed","text":"x"},"durationMs":1}}`
	result := `{"event":"tool-call-end","data":{"toolCallId":"c","name":"bash","kind":"shell","args":{},"result":{"content":"x","isError":false},"durationMs":1,"synthetic":false}}`
	tests := []struct{ name, event, reply, words string }{
		{"params", inference, `{"changes":{"params":{"maxTokens":5,"temperature":0.5,"stop":["a"]}}}`, ""},
		{"a parameter removed", inference, `{"changes":{"params":{"maxTokens":null}}}`, ""},
		{"maxTokens is a fraction", inference, `{"changes":{"params":{"maxTokens":1.5}}}`, "/params/maxTokens: 1.5 where a whole number is expected"},
		{"temperature is a string", inference, `{"changes":{"params":{"temperature":"hot"}}}`, "/params/temperature"},
		{"stop holds a number", inference, `{"changes":{"params":{"stop":["a",1]}}}`, "/params/stop/1"},
		{"tools", inference, `{"changes":{"tools":[{"name":"t","description":"","schema":{}}]}}`, ""},
		{"a tool without schema", inference, `{"changes":{"tools":[{"name":"t","description":""}]}}`, "/tools/0/schema: is missing"},
		{"a tool without name", inference, `{"changes":{"tools":[{"name":"","description":"","schema":{}}]}}`, "/tools/0/name: is empty"},
		{"two tools of one name", inference, `{"changes":{"tools":[{"name":"t","description":"","schema":{}},{"name":"t","description":"","schema":{}}]}}`, "the name of two tools"},
		{"system is a list", inference, `{"changes":{"system":["x"]}}`, "/system: a list where a string is expected"},
		{"model is protected", inference, `{"changes":{"model":"x"}}`, "/model is not changeable"},
		{"response", inference, `{"response":{"message":{"role":"assistant","content":"x"},"finishReason":"stop"}}`, ""},
		{"response with a call", inference, `{"response":{"message":{"role":"assistant","content":[{"type":"toolCall","toolCallId":"c","name":"t","args":{}}]}}}`, ""},
		{"response by the user", inference, `{"response":{"message":{"role":"user","content":"x"}}}`, "/response/message/role"},
		{"response without message", inference, `{"response":{}}`, "/response/message: is missing"},
		{"response with an unknown finish", inference, `{"response":{"message":{"role":"assistant","content":"x"},"finishReason":"done"}}`, "/response/finishReason"},
		{"response with opaque", inference, `{"response":{"message":{"role":"assistant","content":[{"type":"opaque","provider":"p","data":1}]}}}`, "opaque"},

		{"message text", answer, `{"patch":[{"op":"replace","path":"/message/content/1/text","value":"y"}]}`, ""},
		{"message opaque changed", answer, `{"patch":[{"op":"replace","path":"/message/content/0/data","value":2}]}`, "opaque"},
		{"message opaque removed", answer, `{"patch":[{"op":"remove","path":"/message/content/0"}]}`, "opaque"},
		{"message by the user", answer, `{"changes":{"message":{"role":"user"}}}`, "/message/role"},
		{"message emptied", answer, `{"changes":{"message":{"content":""}}}`, "/message/content"},
		{"two calls of one id", answer, `{"patch":[{"op":"add","path":"/message/content/-","value":{"type":"toolCall","toolCallId":"c","name":"t","args":{}}},{"op":"add","path":"/message/content/-","value":{"type":"toolCall","toolCallId":"c","name":"t","args":{}}}]}`, "two tool calls"},

		{"error text", failed, `{"changes":{"error":{"text":"y"}}}`, ""},
		{"error text by patch", failed, `{"patch":[{"op":"replace","path":"/error/text","value":"y"}]}`, ""},
		{"error kind", failed, `{"changes":{"error":{"kind":"denied"}}}`, "/error/kind is not changeable"},
		{"whole error", failed, `{"patch":[{"op":"replace","path":"/error","value":{"kind":"failed","text":"y"}}]}`, "/error is not changeable"},
		{"error null", failed, `{"changes":{"error":null}}`, "null where an object is expected"},
		{"error text null", failed, `{"changes":{"error":{"text":null}}}`, "may be changed, not removed"},

		{"result", result, `{"changes":{"result":{"content":[{"type":"text","text":""}],"exitCode":null}}}`, ""},
		{"result isError", result, `{"changes":{"result":{"isError":"no"}}}`, "/result/isError"},
		{"result exit code", result, `{"changes":{"result":{"exitCode":1.5}}}`, "/result/exitCode"},
		{"result part", result, `{"changes":{"result":{"content":[{"type":"text"}]}}}`, "/result/content/0/text: is missing"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ev := mustDecode(t, test.event)
			_, _, err := apply(t, ev, test.reply)
			if test.words == "" && err != nil {
				t.Fatalf("refused: %v", err)
			}
			if test.words != "" && (err == nil || !strings.Contains(err.Error(), test.words)) {
				t.Errorf("error %v does not say %q", err, test.words)
			}
		})
	}
}
