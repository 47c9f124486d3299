package mcpproxy

import (
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
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
	if member := proxied.Misread(r.raw, "content", "structuredContent", "isError", "toolResult", "resultType", "task", "taskId"); member != "" {
		return "it has " + member
	}
	content := jsonspan.Get(r.raw, "content")
	if !isNothing(content) && jsonspan.Kind(content) != '[' {
		return "its content is " + jsonspan.KindName(content) + ", not a list"
	}
	if has(r.raw, "toolResult") {
		return "it has a toolResult, which hooks do not read"
	}
	for _, item := range jsonspan.Elements(content) {
		if why := unclearItem(item); why != "" {
			return why
		}
	}
	id, isTask := r.task()
	switch {
	case isTask && id == "":
		return "it is a task without an id, whose result hookd would not know again"
	case (isTask || r.needsInput()) && hasOutput(r.raw):
		return "it has content, and says that its content comes later"
	}
	return ""
}

// needsInput reports whether the server asks for input in place of a result.
func (r returned) needsInput() bool {
	return jsonspan.Text(jsonspan.Get(r.raw, "resultType")) == "input_required"
}

// task returns the id of the task that a result is, and whether it is one. An older server says
// it by a member that has no meaning beside content.
func (r returned) task() (id string, is bool) {
	if jsonspan.Text(jsonspan.Get(r.raw, "resultType")) == "task" {
		return jsonspan.Text(jsonspan.Get(r.raw, "taskId")), true
	}
	if has(r.raw, "task") && len(jsonspan.Elements(jsonspan.Get(r.raw, "content"))) == 0 {
		return jsonspan.Text(jsonspan.Find(r.raw, "/task/taskId")), true
	}
	return "", false
}

// hasOutput reports whether a result has something in it that a client shows a model.
func hasOutput(raw protocol.RawMessage) bool {
	return len(jsonspan.Elements(jsonspan.Get(raw, "content"))) > 0 || has(raw, "structuredContent") || has(raw, "toolResult")
}

// otherTypes are members of an item of content that belong to items of other types. Some programs go
// by these, whatever the item says that it is.
var otherTypes = map[string][]string{
	"text":     {"data", "blob", "resource"},
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
	resource := jsonspan.Get(item, "resource")
	if member := proxied.Misread(resource, "uri", "mimeType", "text", "blob"); member != "" {
		return "a resource in its content has " + member
	}
	if has(resource, "text") && has(resource, "blob") {
		return "a resource in its content is a text and a blob at the same time"
	}
	return ""
}

// has reports whether an object has a member that says something.
func has(object protocol.RawMessage, name string) bool { return !isNothing(jsonspan.Get(object, name)) }

// isNothing reports whether a member says nothing: it is absent or null.
func isNothing(value protocol.RawMessage) bool { return value == nil || jsonspan.IsNull(value) }
