package modelserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Turn is one answer of a model, in no provider's words.
type Turn struct {
	Thinking  string
	Signature string // of Thinking, Anthropic only
	Text      string
	Calls     []Call
	// Input, Cached and Output are tokens; Cached are those of Input that came
	// from the cache.
	Input, Cached, Output int
	NoUsage               bool
}

// Call is one call of a tool. Args need not be JSON.
type Call struct{ ID, Name, Args string }

// pieces cuts a text into pieces of three characters.
func pieces(text string) (list []string) {
	for runes := []rune(text); len(runes) > 0; runes = runes[min(3, len(runes)):] {
		list = append(list, string(runes[:min(3, len(runes))]))
	}
	return list
}

func quote(s string) string {
	text, _ := json.Marshal(s) // a string always has a JSON form
	return string(text)
}

// Anthropic is a turn as Anthropic's Messages stream it.
func Anthropic(t Turn) string {
	var b strings.Builder
	event := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", name, fmt.Sprintf(format, args...))
	}
	event("message_start", `{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":1}}}`, t.Input-t.Cached, t.Cached)
	event("ping", `{"type": "ping"}`)
	index := 0
	block := func(start string, deltas []string) {
		event("content_block_start", `{"type":"content_block_start","index":%d,"content_block":%s}`, index, start)
		for _, d := range deltas {
			event("content_block_delta", `{"type":"content_block_delta","index":%d,"delta":%s}`, index, d)
		}
		event("content_block_stop", `{"type":"content_block_stop","index":%d}`, index)
		index++
	}
	if t.Thinking != "" {
		var deltas []string
		for _, p := range pieces(t.Thinking) {
			deltas = append(deltas, `{"type":"thinking_delta","thinking":`+quote(p)+`}`)
		}
		deltas = append(deltas, `{"type":"signature_delta","signature":`+quote(t.Signature)+`}`)
		block(`{"type":"thinking","thinking":"","signature":""}`, deltas)
	}
	if t.Text != "" {
		var deltas []string
		for _, p := range pieces(t.Text) {
			deltas = append(deltas, `{"type":"text_delta","text":`+quote(p)+`}`)
		}
		block(`{"type":"text","text":""}`, deltas)
	}
	for _, c := range t.Calls {
		deltas := []string{`{"type":"input_json_delta","partial_json":""}`}
		for _, p := range pieces(c.Args) {
			deltas = append(deltas, `{"type":"input_json_delta","partial_json":`+quote(p)+`}`)
		}
		block(`{"type":"tool_use","id":`+quote(c.ID)+`,"name":`+quote(c.Name)+`,"input":{}}`, deltas)
	}
	reason := "end_turn"
	if len(t.Calls) > 0 {
		reason = "tool_use"
	}
	event("message_delta", `{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}}`, reason, t.Output)
	event("message_stop", `{"type":"message_stop"}`)
	return b.String()
}

// OpenAI is a turn as OpenAI's chat completions stream it.
func OpenAI(t Turn) string {
	var b strings.Builder
	choice := func(delta, finish string) {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764000000,"model":"test","choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}],"usage":null}`+"\n\n", delta, finish)
	}
	choice(`{"role":"assistant","content":"","refusal":null}`, "null")
	for _, p := range pieces(t.Thinking) {
		choice(`{"reasoning_content":`+quote(p)+`}`, "null")
	}
	for _, p := range pieces(t.Text) {
		choice(`{"content":`+quote(p)+`}`, "null")
	}
	for i, c := range t.Calls {
		choice(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, i, quote(c.ID), quote(c.Name)), "null")
		for _, p := range pieces(c.Args) {
			choice(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(p)), "null")
		}
	}
	reason := `"stop"`
	if len(t.Calls) > 0 {
		reason = `"tool_calls"`
	}
	choice("{}", reason)
	if !t.NoUsage {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764000000,"model":"test","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`+"\n\n", t.Input, t.Output, t.Input+t.Output, t.Cached)
	}
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}
