package object

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// ContentText is the text of a content: a string, or a list of parts.
func ContentText(content protocol.RawMessage) string {
	if jsonspan.Kind(content) == '"' {
		return jsonspan.Text(content)
	}
	var texts []string
	for _, part := range jsonspan.Elements(content) {
		if text := jsonspan.Get(part, "text"); jsonspan.Kind(text) == '"' {
			texts = append(texts, jsonspan.Text(text))
		}
	}
	return strings.Join(texts, "\n")
}

// ResultText is what a tool has printed, wherever the agent puts it: the value itself, or
// the members that agents are known to have.
func ResultText(value protocol.RawMessage) string {
	switch jsonspan.Kind(value) {
	case '"':
		return jsonspan.Text(value)
	case '[':
		return ContentText(value)
	case '{':
	default:
		return ""
	}
	of := &Reader{JSON: value}
	if out := of.At("stdout"); jsonspan.Kind(out) == '"' {
		return strings.TrimRight(strings.Join([]string{jsonspan.Text(out), of.Text("stderr")}, "\n"), "\n")
	}
	for _, name := range []string{"textResultForLlm", "text_result_for_llm", "llmContent", "output", "text", "result", "content"} {
		if text := ContentText(of.At(name)); text != "" {
			return text
		}
	}
	return string(value)
}

// ResultFailed reports whether a result says of itself that the tool failed.
func ResultFailed(value protocol.RawMessage) bool {
	of := &Reader{JSON: value}
	if jsonspan.Kind(value) != '{' {
		return false
	}
	kind := of.First("resultType", "result_type")
	return kind != "" && kind != "success" || string(of.At("success")) == "false" || of.Is("isError") || of.Is("is_error") ||
		jsonspan.Kind(of.At("error")) == '{'
}

// Lines joins texts that are not empty, each on a line of its own.
func Lines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n")
}
