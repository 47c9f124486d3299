package mcpproxy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// written is a result on its way back to the client.
type written struct {
	of         *result
	items      []protocol.RawMessage
	structured protocol.RawMessage // nil: left out
}

// write returns the result as the server wrote it, changed as hooks changed what they read
// of it, with texts added at its end. The structured content is kept only where hooks left
// alone what they read of it: a client shows a model the one or the other.
func (r *result) write(decided protocol.Result, texts []string) (protocol.RawMessage, error) {
	w := &written{of: r}
	if err := w.parts(decided.Content); err != nil {
		return nil, err
	}
	items, err := r.contentOf(parts(texts), r.args)
	if err != nil {
		return nil, err
	}
	w.items = append(w.items, items...)
	raw := r.raw
	if w.structured == nil && jsonspan.Get(raw, r.list) == nil { // clients want one
		raw = relay.Replace(raw, r.list, list(nil))
	}
	if !slices.EqualFunc(w.items, r.items, func(a, b protocol.RawMessage) bool { return string(a) == string(b) }) {
		content := list(w.items)
		if before := jsonspan.Get(raw, r.list); jsonspan.Kind(before) == '[' {
			content, _ = (*jsonspan.Budget)(nil).Edit(before, content)
		}
		raw = relay.Replace(raw, r.list, content)
	}
	switch {
	case w.structured == nil && r.structured != nil:
		raw = jsonspan.Without(raw, "structuredContent")
	case w.structured != nil && string(w.structured) != string(r.structured):
		raw = relay.Replace(raw, "structuredContent", w.structured)
	}
	if decided.IsError != r.shown.IsError {
		raw = relay.Replace(raw, "isError", []byte(strconv.FormatBool(decided.IsError)))
	}
	return raw, nil
}

// parts writes the parts that hooks left.
func (w *written) parts(decided protocol.Content) error {
	was := keys(w.of.shown.Content)
	is := keys(decided)
	used := make([]bool, len(was))
	from := make([]int, len(is)) // the part that it was, -1: none
	for i := range is {
		from[i] = -1
		if i < len(was) && is[i] == was[i] {
			from[i], used[i] = i, true
		}
	}
	for i := range is {
		for n := 0; n < len(was) && from[i] < 0; n++ {
			if !used[n] && is[i] == was[n] {
				from[i], used[n] = n, true
			}
		}
	}
	for i := range decided {
		if from[i] >= 0 {
			w.keep(from[i])
			continue
		}
		if err := w.change(i, &decided[i], len(is) == len(was) && !used[i]); err != nil {
			return err
		}
	}
	return nil
}

// keep writes a part that hooks did not change.
func (w *written) keep(part int) {
	if part == w.of.extra || part == w.of.repeats {
		w.structured = w.of.structured
	}
	if part != w.of.extra {
		w.items = append(w.items, w.of.items[part])
	}
}

// change writes a part that hooks made, or made of the part at its place.
func (w *written) change(at int, part *protocol.Part, inPlace bool) error {
	ofStructured := inPlace && (at == w.of.extra || at == w.of.repeats) && part.Type == protocol.PartText
	if text := []byte(part.Text); ofStructured && jsonspan.Kind(text) == '{' && jsonspan.Valid(text) {
		w.structured = jsonspan.OneLine(text)
		if at == w.of.extra {
			return nil
		}
	}
	was := protocol.RawMessage(nil)
	if inPlace && at < len(w.of.items) {
		was = w.of.items[at]
	}
	if was != nil && part.Type == protocol.PartText && w.of.shown.Content[at].Type == protocol.PartText {
		w.items = append(w.items, w.of.withText(was, part.Text))
		return nil
	}
	item, err := w.of.item(part, was, w.of.args)
	w.items = append(w.items, item)
	return err
}

// withText returns an item with another text in the place where it stands.
func withText(item protocol.RawMessage, text string) protocol.RawMessage {
	quoted := jsonspan.Quote(text)
	if typeOf(item) == "resource" {
		return relay.Replace(item, "resource", relay.Replace(jsonspan.Get(item, "resource"), "text", quoted))
	}
	return relay.Replace(item, "text", quoted)
}

// toolItem writes a part as an item of a tool's content.
func toolItem(part *protocol.Part, _, _ protocol.RawMessage) (protocol.RawMessage, error) {
	switch {
	case part.Type == protocol.PartText:
		return textItem(part.Text), nil
	case part.Type == protocol.PartImage && jsonspan.Kind(part.Data) == '"':
		item := append(protocol.RawMessage(`{"type":"image","data":`), part.Data...)
		item = append(append(item, `,"mimeType":`...), jsonspan.Quote(part.MediaType)...)
		return append(item, '}'), nil
	case isOpaque(part):
		return part.Data, nil
	}
	return nil, unwritable(part)
}

// isOpaque reports whether a part is an item of a server as it was written.
func isOpaque(part *protocol.Part) bool {
	return part.Type == protocol.PartOpaque && part.Provider == provider && jsonspan.Kind(part.Data) == '{'
}

func unwritable(part *protocol.Part) error {
	return fmt.Errorf("a part of type %q cannot be written as content of MCP", part.Type)
}

// parts are texts as hooks give them.
func parts(texts []string) (content protocol.Content) {
	for _, text := range texts {
		content = append(content, protocol.TextContent(text)...)
	}
	return content
}

// contentOf writes parts as items that stand for none of the server.
func (s *shape) contentOf(parts protocol.Content, args protocol.RawMessage) ([]protocol.RawMessage, error) {
	items := make([]protocol.RawMessage, len(parts))
	for i := range parts {
		var err error
		if items[i], err = s.item(&parts[i], nil, args); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// keys are texts that equal parts share.
func keys(parts protocol.Content) []string {
	texts := make([]string, len(parts))
	for i := range parts {
		raw, err := protocol.Marshal(parts[i])
		if err != nil {
			raw = strconv.AppendInt(nil, int64(i), 10) // equal to none
		}
		texts[i] = jsonspan.Canonical(raw)
	}
	return texts
}

func textItem(text string) protocol.RawMessage {
	return append(append(protocol.RawMessage(`{"type":"text","text":`), jsonspan.Quote(text)...), '}')
}

func list(items []protocol.RawMessage) protocol.RawMessage { return jsonspan.JoinList(items) }

// made is a result that no server wrote. Newer clients want to read that it is complete, and
// how long it may be kept.
func (s *shape) made(items []protocol.RawMessage, isError, modern bool) protocol.RawMessage {
	raw := append(append([]byte{'{'}, jsonspan.Quote(s.list)...), ':')
	raw = append(raw, list(items)...)
	if isError {
		raw = append(raw, `,"isError":true`...)
	}
	if modern && s.cached {
		raw = append(raw, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	if modern {
		raw = append(raw, `,"resultType":"complete"`...)
	}
	return append(raw, '}')
}

// refused is what the client reads where a request was refused, or its result withheld: a
// result that is an error, where the method has such, else an error of JSON-RPC.
func (s *shape) refused(texts []string, modern bool) instead {
	if !s.ofTool {
		return instead{refusal: cmp.Or(strings.TrimSpace(strings.Join(texts, "\n")), "refused")}
	}
	var items []protocol.RawMessage
	for _, text := range texts {
		items = append(items, textItem(text))
	}
	return instead{value: s.made(items, true, modern)}
}
