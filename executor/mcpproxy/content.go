package mcpproxy

import (
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// provider is whose parts of a result those are that have no form of our own.
const provider = "mcp"

// shape is how the results of a method are written: as a list of items, of each of which
// hooks read one part.
type shape struct {
	list   string   // the member that has the items
	known  []string // the members of a result that have a meaning
	ofTool bool     // it can be an error, and have structured content
	cached bool     // it says how long clients may keep it

	part     func(item protocol.RawMessage) protocol.Part
	unclear  func(item protocol.RawMessage) string                           // why clients could read something else
	withText func(item protocol.RawMessage, text string) protocol.RawMessage // another text in its place
	// item writes a part that hooks made. was is the item at its place, nil if there is none;
	// args are those of the call.
	item func(part *protocol.Part, was, args protocol.RawMessage) (protocol.RawMessage, error)
}

// result is the result of a call as its server wrote it, and as hooks read it. Each part
// that hooks read stands for one item of the server's content, in the same order; one more
// may show the structured content.
type result struct {
	*shape
	raw   protocol.RawMessage
	args  protocol.RawMessage // of the call
	items []protocol.RawMessage
	shown protocol.Result

	structured protocol.RawMessage // nil: none
	repeats    int                 // the part that says the same as the structured content, -1: none
	extra      int                 // the part that shows it because no other does, -1: none

	unread bool // hooks read a text in its place
}

// readResult reads a result, which must be strictly valid, of a call with these args.
func readResult(s *shape, raw, args protocol.RawMessage) *result {
	r := &result{shape: s, raw: raw, args: args, repeats: -1, extra: -1, items: jsonspan.Elements(jsonspan.Get(raw, s.list))}
	for _, item := range r.items {
		r.shown.Content = append(r.shown.Content, s.part(item))
	}
	if s.ofTool {
		r.shown.IsError = string(jsonspan.Get(raw, "isError")) == "true"
		r.readStructured(jsonspan.Get(raw, "structuredContent"))
	}
	if r.shown.Content == nil {
		r.shown.Content = protocol.Content{}
	}
	return r
}

// readStructured reads the structured content of a result, nil if there is none.
func (r *result) readStructured(structured protocol.RawMessage) {
	if structured == nil || jsonspan.IsNull(structured) {
		return
	}
	r.structured = structured
	r.repeats = slices.IndexFunc(r.shown.Content, func(p protocol.Part) bool {
		return p.Type == protocol.PartText && jsonspan.Valid([]byte(p.Text)) && jsonspan.Equal([]byte(p.Text), structured)
	})
	if r.repeats < 0 {
		r.extra = len(r.shown.Content)
		r.shown.Content = append(r.shown.Content, protocol.Part{Type: protocol.PartText, Text: string(structured)})
	}
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
