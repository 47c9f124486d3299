package mcpproxy

import (
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// provider is whose parts of a result those are that have no form of our own.
const provider = "mcp"

// result is the result of a call as its server wrote it, and as hooks read it. Each part
// that hooks read stands for one item of the server's content, in the same order; one more
// may show the structured content.
type result struct {
	raw   protocol.RawMessage
	items []protocol.RawMessage
	shown protocol.Result

	structured protocol.RawMessage // nil: none
	repeats    int                 // the part that says the same as the structured content, -1: none
	extra      int                 // the part that shows it because no other does, -1: none

	unread bool // hooks read a text in its place
}

// readResult reads a result, which must be strictly valid.
func readResult(raw protocol.RawMessage) *result {
	r := &result{raw: raw, repeats: -1, extra: -1, items: jsonspan.Elements(jsonspan.Get(raw, "content"))}
	r.shown.IsError = string(jsonspan.Get(raw, "isError")) == "true"
	for _, item := range r.items {
		r.shown.Content = append(r.shown.Content, partOf(item))
	}
	if structured := jsonspan.Get(raw, "structuredContent"); structured != nil && !jsonspan.IsNull(structured) {
		r.structured = structured
		r.repeats = slices.IndexFunc(r.shown.Content, func(p protocol.Part) bool {
			return p.Type == protocol.PartText && jsonspan.Valid([]byte(p.Text)) && jsonspan.Equal([]byte(p.Text), structured)
		})
		if r.repeats < 0 {
			r.extra = len(r.shown.Content)
			r.shown.Content = append(r.shown.Content, protocol.Part{Type: protocol.PartText, Text: string(structured)})
		}
	}
	if r.shown.Content == nil {
		r.shown.Content = protocol.Content{}
	}
	return r
}

// partOf returns what hooks read of an item of content. What has no form of our own is
// there as it was written.
func partOf(item protocol.RawMessage) protocol.Part {
	switch text := jsonspan.Find(item, textPointer(item)); {
	case jsonspan.Kind(text) == '"':
		return protocol.Part{Type: protocol.PartText, Text: jsonspan.Text(text)}
	case typeOf(item) == "image":
		data, mediaType := jsonspan.Get(item, "data"), jsonspan.Get(item, "mimeType")
		if jsonspan.Kind(data) == '"' && jsonspan.Kind(mediaType) == '"' {
			return protocol.Part{Type: protocol.PartImage, MediaType: jsonspan.Text(mediaType), Data: data}
		}
	}
	return protocol.Part{Type: protocol.PartOpaque, Provider: provider, Data: item}
}

func typeOf(item protocol.RawMessage) string { return jsonspan.Text(jsonspan.Get(item, "type")) }

// textPointer is where the text of an item stands that is a text or a resource with one.
func textPointer(item protocol.RawMessage) string {
	switch typeOf(item) {
	case "text":
		return "/text"
	case "resource":
		return "/resource/text"
	}
	return "/ no text"
}
