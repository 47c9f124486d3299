package protocol

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

// checkMessages checks a list of messages from a hook. Messages that were in the old
// list are the host's and are not checked again. A message that the hook wrote must have
// a role that it may write, and content of known parts. In the whole list each call must
// be followed by its one result, and each result must have its call. Opaque parts must
// not change, nor the parts that a hook of a higher layer wrote.
func checkMessages(old, value RawMessage, by HookInfo) error {
	if err := isKind(value, "", '['); err != nil {
		return err
	}
	if jsonspan.Kind(old) != '[' {
		old = RawMessage("[]")
	}
	before, after := jsonspan.Elements(old), jsonspan.Elements(value)
	known := newTally(before)
	for i, message := range after {
		if known.take(message) {
			continue
		}
		if err := checkWritten(message, "/"+strconv.Itoa(i), RoleUser, RoleAssistant); err != nil {
			return err
		}
	}
	if err := checkPairs(before, after); err != nil {
		return err
	}
	return checkProtected(before, after, by)
}

// checkAnswer checks the one assistant message of inference-end or of a
// response.
func checkAnswer(old, message RawMessage, by HookInfo, path string) error {
	if err := isKind(message, path, '{'); err != nil {
		return err
	}
	if err := checkWritten(message, path, RoleAssistant); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, part := range partsOf(message) {
		if id := jsonspan.Text(jsonspan.Get(part, "toolCallId")); typeOf(part) == PartToolCall {
			if seen[id] {
				return wrong(path+"/content", "two tool calls have the id %q", text.Shorten(id, 60))
			}
			seen[id] = true
		}
	}
	var before []RawMessage
	if jsonspan.Kind(old) == '{' {
		before = []RawMessage{old}
	}
	if err := checkProtected(before, []RawMessage{message}, by); err != nil {
		return &fieldError{path, err}
	}
	return nil
}

// checkWritten checks one message that a hook wrote or changed.
func checkWritten(message RawMessage, path string, roles ...Role) error {
	if err := isKind(message, path, '{'); err != nil {
		return err
	}
	if err := isKindIfThere(jsonspan.Get(message, "id"), path+"/id", '"'); err != nil {
		return err
	}
	role := Role(jsonspan.Text(jsonspan.Get(message, "role")))
	allowed := ""
	for i, r := range roles {
		if i > 0 {
			allowed += " or "
		}
		allowed += string(r)
		if r == role {
			return checkContent(jsonspan.Get(message, "content"), path+"/content", role)
		}
	}
	return wrong(path+"/role", "a hook may write %s messages here, not %q", allowed, text.Shorten(string(role), 40))
}

func checkContent(content RawMessage, path string, role Role) error {
	switch jsonspan.Kind(content) {
	case '"':
		if jsonspan.Text(content) == "" {
			return wrong(path, "is empty")
		}
		return nil
	case '[':
	default:
		return wrong(path, "%s where a string or a list of parts is expected", jsonspan.KindName(content))
	}
	parts := jsonspan.Elements(content)
	if len(parts) == 0 {
		return wrong(path, "is empty")
	}
	for i, part := range parts {
		at := path + "/" + strconv.Itoa(i)
		if err := checkPart(part, at, true); err != nil {
			return err
		}
		switch t := typeOf(part); {
		case t == PartToolCall && role != RoleAssistant:
			return wrong(at, "a tool call belongs in an assistant message")
		case t == PartToolResult && role == RoleAssistant:
			return wrong(at, "a tool result does not belong in an assistant message")
		}
	}
	return nil
}

// checkPart checks one part. In a conversation no text is empty.
func checkPart(part RawMessage, path string, conversation bool) error {
	if err := isKind(part, path, '{'); err != nil {
		return err
	}
	needs := func(name string, kind byte) error { return isKind(jsonspan.Get(part, name), path+"/"+name, kind) }
	var first, second error
	switch t := typeOf(part); t {
	case PartText, PartThinking:
		first = needs("text", '"')
		if first == nil && conversation && t == PartText && jsonspan.Text(jsonspan.Get(part, "text")) == "" {
			first = wrong(path+"/text", "is empty")
		}
	case PartImage:
		first, second = needs("mediaType", '"'), needs("data", '"')
	case PartToolCall:
		first, second = needs("name", '"'), needs("args", '{')
	case PartToolResult:
		if content := jsonspan.Get(part, "content"); jsonspan.Kind(content) != '"' {
			first = isKind(content, path+"/content", '[')
		}
		second = isBoolIfThere(jsonspan.Get(part, "isError"), path+"/isError")
	case PartOpaque:
		first = needs("provider", '"')
	default:
		return wrong(path+"/type", "unknown part type %q, the nearest is %q", text.Shorten(string(t), 40), text.Closest(string(t), partTypes))
	}
	if first != nil {
		return first
	}
	if second != nil {
		return second
	}
	if t := typeOf(part); (t == PartToolCall || t == PartToolResult) && jsonspan.Text(jsonspan.Get(part, "toolCallId")) == "" {
		return wrong(path+"/toolCallId", "is missing")
	}
	return nil
}

var partTypes = []string{"text", "thinking", "image", "toolCall", "toolResult", "opaque"}

// checkPairs checks that each call has exactly one result after it and each
// result its call. A pair that the host's own list lacks already is not the
// hook's fault.
func checkPairs(before, after []RawMessage) error {
	was, is := unpaired(before), unpaired(after)
	for _, id := range slices.Sorted(maps.Keys(is)) {
		if what := is[id]; was[id] != what {
			return wrong("", "tool call %q %s", text.Shorten(id, 60), what)
		}
	}
	return nil
}

// unpaired says for each tool call what its pairing lacks.
func unpaired(messages []RawMessage) map[string]string {
	calls, results := map[string]int{}, map[string]int{}
	faults := map[string]string{}
	for _, message := range messages {
		for _, part := range partsOf(message) {
			id := jsonspan.Text(jsonspan.Get(part, "toolCallId"))
			switch typeOf(part) {
			case PartToolCall:
				if calls[id]++; calls[id] > 1 {
					faults[id] = "is there twice"
				}
			case PartToolResult:
				if calls[id] == 0 {
					faults[id] = "has a result but no call before it"
				}
				if results[id]++; results[id] > 1 {
					faults[id] = "has two results"
				}
			}
		}
	}
	for id := range calls {
		if results[id] == 0 && faults[id] == "" {
			faults[id] = "has no result after it"
		}
	}
	return faults
}

func typeOf(part RawMessage) PartType { return PartType(jsonspan.Text(jsonspan.Get(part, "type"))) }

// partsOf returns the parts of a message, none if its content is a string.
func partsOf(message RawMessage) []RawMessage {
	return jsonspan.Elements(jsonspan.Get(message, "content"))
}

// checkProtected checks the parts that are not the hook's to change: opaque
// ones, which may go only with their whole message, and those that a hook of a
// higher layer wrote, which stay.
func checkProtected(before, after []RawMessage, by HookInfo) error {
	opaque, higher := newTally(nil), newTally(nil)
	for _, message := range before {
		for _, part := range partsOf(message) {
			if typeOf(part) == PartOpaque {
				opaque.put(part)
			}
			if isHigher(part, by) {
				higher.put(part)
			}
		}
	}
	signed := newTally(nil) // parts that claim to be some hook's
	for _, message := range before {
		for _, part := range partsOf(message) {
			if jsonspan.Get(part, "layer") != nil {
				signed.put(part)
			}
		}
	}
	for _, message := range after {
		for _, part := range partsOf(message) {
			higher.take(part)
			if typeOf(part) == PartOpaque && !opaque.take(part) {
				return errors.New("an opaque part was changed or added; it passes through as it is")
			}
			if jsonspan.Get(part, "layer") != nil && !signed.take(part) {
				return errors.New("a part that names a layer was changed or added; only hookd writes that member")
			}
		}
	}
	if higher.left() > 0 {
		return errors.New("a part that a hook of a higher layer wrote was changed or removed")
	}
	return checkOpaqueKept(before, after)
}

// checkOpaqueKept checks that a message which is still there, known by its id or
// else by its place in a list of the same length, has all its opaque parts.
func checkOpaqueKept(before, after []RawMessage) error {
	byID := map[string]RawMessage{}
	for _, message := range after {
		if id := jsonspan.Text(jsonspan.Get(message, "id")); id != "" {
			byID[id] = message
		}
	}
	for i, message := range before {
		now := byID[jsonspan.Text(jsonspan.Get(message, "id"))]
		if now == nil && jsonspan.Get(message, "id") == nil && len(before) == len(after) {
			now = after[i]
		}
		if now == nil || sameRole(message, now) && opaqueParts(message) == opaqueParts(now) {
			continue
		}
		if opaqueParts(message) > 0 {
			return errors.New("an opaque part was removed from a message that is still there")
		}
	}
	return nil
}

func sameRole(a, b RawMessage) bool {
	return jsonspan.Text(jsonspan.Get(a, "role")) == jsonspan.Text(jsonspan.Get(b, "role"))
}

func opaqueParts(message RawMessage) int {
	n := 0
	for _, part := range partsOf(message) {
		if typeOf(part) == PartOpaque {
			n++
		}
	}
	return n
}

// isHigher reports whether a part was written by a hook of a layer above the
// hook's. Built-in hooks are hookd itself and stand below nobody.
func isHigher(part RawMessage, by HookInfo) bool {
	writer := OriginOf(Layer(jsonspan.Text(jsonspan.Get(part, "layer"))), jsonspan.Text(jsonspan.Get(part, "hook")))
	return by.Layer != Builtin && writer.Compare(by.Origin()) > 0
}

// tally counts values that say the same, whatever their spelling.
type tally struct{ values map[string]int }

func newTally(values []RawMessage) *tally {
	t := &tally{map[string]int{}}
	for _, v := range values {
		t.put(v)
	}
	return t
}

func (t *tally) put(v RawMessage) { t.values[jsonspan.Canonical(v)]++ }

// take removes one value that says the same as v and reports whether there was
// one.
func (t *tally) take(v RawMessage) bool {
	key := jsonspan.Canonical(v)
	if t.values[key] == 0 {
		return false
	}
	t.values[key]--
	return true
}

func (t *tally) left() int {
	n := 0
	for _, count := range t.values {
		n += count
	}
	return n
}
