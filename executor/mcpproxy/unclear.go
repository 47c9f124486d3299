package mcpproxy

import (
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// returned is a call and the result that the server gave it.
type returned struct {
	*call
	raw protocol.RawMessage // strictly valid, nil where it cannot be made so

	// unclear says why a client could read something else of it than hooks do, "" if none can.
	unclear string
}

// resultOfCall reads a result of a call.
func resultOfCall(c *call, raw protocol.RawMessage) returned {
	if !jsonspan.Valid(raw) {
		if raw = jsonspan.ReplaceLoneSurrogates(slices.Clone(raw)); !jsonspan.Valid(raw) {
			return returned{c, nil, "it has a member twice, or text that is not valid UTF-8, so that hooks and the client could read two different things"}
		}
	}
	r := returned{call: c, raw: raw}
	r.unclear = r.whyUnclear()
	return r
}

func (r returned) whyUnclear() string {
	if jsonspan.Kind(r.raw) != '{' {
		return "it is " + jsonspan.KindName(r.raw) + ", not an object"
	}
	shape := &r.asked.method.result
	if member := proxied.Misread(r.raw, shape.known...); member != "" {
		return "it has " + member
	}
	id, isTask := r.task()
	list, kind := jsonspan.Get(r.raw, shape.list), jsonspan.Get(r.raw, "resultType")
	switch {
	case !isNothing(list) && jsonspan.Kind(list) != '[':
		return "its " + shape.list + " is " + jsonspan.KindName(list) + ", not a list"
	case isNothing(list) && !shape.ofTool && !r.needsInput():
		return "it has no " + shape.list
	case !shape.isOf(kind):
		return "it is of the type " + text.Shorten(string(kind), 100) + ", which hookd does not know here"
	case shape.ofTool && has(r.raw, "toolResult"):
		return "it has a toolResult, which hooks do not read"
	}
	for _, item := range jsonspan.Elements(list) {
		if why := shape.unclear(item); why != "" {
			return why
		}
	}
	switch {
	case isTask && id == "":
		return "it is a task without an id, whose result hookd would not know again"
	case (isTask || r.needsInput()) && shape.hasOutput(r.raw):
		return "it has content, and says that its content comes later"
	}
	return ""
}

// isOf reports whether hookd knows what a result of a type is. Nobody can say what clients read of one
// that came into the protocol later, and where it stands.
func (s *shape) isOf(kind protocol.RawMessage) bool {
	switch jsonspan.Text(kind) {
	case "":
		return isNothing(kind)
	case "complete", "input_required":
		return true
	case "task":
		return s.ofTool
	}
	return false
}

// needsInput reports whether the server asks for input in place of a result.
func (r returned) needsInput() bool {
	return jsonspan.Text(jsonspan.Get(r.raw, "resultType")) == "input_required"
}

// task returns the id of the task that a result of a tool is, and whether it is one. An older
// server says it by a member that has no meaning beside content.
func (r returned) task() (id string, is bool) {
	if !r.asked.method.result.ofTool {
		return "", false
	}
	if jsonspan.Text(jsonspan.Get(r.raw, "resultType")) == "task" {
		return jsonspan.Text(jsonspan.Get(r.raw, "taskId")), true
	}
	if has(r.raw, "task") && len(jsonspan.Elements(jsonspan.Get(r.raw, "content"))) == 0 {
		return jsonspan.Text(jsonspan.Find(r.raw, "/task/taskId")), true
	}
	return "", false
}

// hasOutput reports whether a result has something in it that a client shows a model.
func (s *shape) hasOutput(raw protocol.RawMessage) bool {
	return len(jsonspan.Elements(jsonspan.Get(raw, s.list))) > 0 || s.ofTool && (has(raw, "structuredContent") || has(raw, "toolResult"))
}

// otherTypes are members of an item of content that belong to items of other types. Some programs go
// by these, whatever the item says that it is.
var otherTypes = map[string][]string{
	"text":     {"blob", "resource"},
	"image":    {"text", "blob", "resource"},
	"resource": {"text", "data", "blob"},
}

// unclearItem says why a client could read something else of an item of content than hooks do. Hooks
// read all of an item that has no form of our own.
func unclearItem(item protocol.RawMessage) string {
	if partOf(item).Type == protocol.PartOpaque {
		return ""
	}
	of := typeOf(item)
	if member := proxied.Misread(item, "type", "text", "data", "mimeType", "blob", "resource"); member != "" {
		return "its content has " + member
	}
	for _, name := range otherTypes[of] {
		if has(item, name) {
			return fmt.Sprintf("its content of type %q has the member %q, which is of another type", of, name)
		}
	}
	return unclearResource(jsonspan.Get(item, "resource"))
}

// unclearResource says why a client could read something else of a resource than hooks do.
func unclearResource(resource protocol.RawMessage) string {
	if member := proxied.Misread(resource, "uri", "mimeType", "text", "blob"); member != "" {
		return "a resource in it has " + member
	}
	if has(resource, "text") && has(resource, "blob") {
		return "a resource in it is a text and a blob at the same time"
	}
	return ""
}

// unclearContents says why a client could read something else of an item of a resource than
// hooks do.
func unclearContents(item protocol.RawMessage) string {
	if jsonspan.Kind(item) != '{' {
		return "one of its contents is " + jsonspan.KindName(item) + ", not an object"
	}
	return unclearResource(item)
}

// unclearMessage says why a client could read something else of a message of a prompt than
// hooks do.
func unclearMessage(item protocol.RawMessage) string {
	if !has(item, "content") {
		return "one of its messages has no content"
	}
	if member := proxied.Misread(item, "role", "content"); member != "" {
		return "a message in it has " + member
	}
	return unclearItem(jsonspan.Get(item, "content"))
}

// has reports whether an object has a member that says something.
func has(object protocol.RawMessage, name string) bool { return !isNothing(jsonspan.Get(object, name)) }

// isNothing reports whether a member says nothing: it is absent or null.
func isNothing(value protocol.RawMessage) bool { return value == nil || jsonspan.IsNull(value) }
