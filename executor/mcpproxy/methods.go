package mcpproxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// method is a method whose requests hooks judge, each as the call of a tool: how a request
// is read and written, and its result.
type method struct {
	name  string
	what  string   // what a request is, for people
	known []string // the members of its params that have a meaning

	// read returns the tool that hooks read, and its args.
	read func(g *guard, params protocol.RawMessage) (tool string, args protocol.RawMessage, err error)
	// write returns the params with the args that hooks left.
	write func(params, args protocol.RawMessage) protocol.RawMessage
	// check says why args that hooks changed cannot be written, or do not fit.
	check func(c *call, args protocol.RawMessage) error

	result shape
}

// methods are all that hooks judge.
var methods = []*method{
	{
		name: "tools/call", what: "a call of a tool", known: []string{"name", "arguments", "_meta", "task", "inputResponses", "requestState"},
		read: readTool, write: writeTool, check: checkTool,
		result: shape{list: "content", known: []string{"content", "structuredContent", "isError", "toolResult", "resultType", "task", "taskId"}, ofTool: true, part: partOf, unclear: unclearItem, withText: withText, item: toolItem},
	},
	{
		name: "resources/read", what: "a read of a resource", known: []string{"uri", "_meta", "inputResponses", "requestState"},
		read: readResource, write: writeResource, check: checkResource,
		result: shape{list: "contents", known: []string{"contents", "resultType"}, cached: true, part: resourcePart, unclear: unclearContents, withText: resourceText, item: resourceItem},
	},
	{
		name: "prompts/get", what: "a request for a prompt", known: []string{"name", "arguments", "_meta", "inputResponses", "requestState"},
		read: readPrompt, write: writePrompt, check: checkPrompt,
		result: shape{list: "messages", known: []string{"messages", "resultType"}, part: messagePart, unclear: unclearMessage, withText: messageText, item: messageItem},
	},
}

// namesOfMethods are the methods that hooks judge, or that say what they judge.
var namesOfMethods = []string{"tools/call", "resources/read", "prompts/get", "tasks/get", "tasks/result", "tasks/cancel", "tasks/update", toolsList, "initialize"}

// namesOfNews are what a server says by itself that hooks judge, or that says what they judge.
var namesOfNews = []string{"notifications/tasks", "notifications/tasks/status", "notifications/tools/list_changed"}

// methodOf returns the method of a message, nil if hooks do not judge it.
func methodOf(name string) *method {
	if i := slices.IndexFunc(methods, func(m *method) bool { return m.name == name }); i >= 0 {
		return methods[i]
	}
	return nil
}

// params returns the params of a request. What hooks and the server could read in two ways
// is an error.
func (h *method) params(m *relay.Message) (protocol.RawMessage, error) {
	params := m.Params
	if !m.Strict {
		params = jsonspan.ReplaceLoneSurrogates(slices.Clone(params))
		if !jsonspan.Valid(params) {
			return nil, fmt.Errorf("%s has a member twice, or text that is not valid UTF-8: what hooks judge and what the server reads could differ", h.what)
		}
	}
	if jsonspan.Kind(params) != '{' {
		return nil, fmt.Errorf("%s has no params", h.what)
	}
	if member := proxied.Misread(params, h.known...); member != "" {
		return nil, fmt.Errorf("%s has %s", h.what, member)
	}
	return params, nil
}

// nameIn returns a member of the params that names what is asked for.
func nameIn(params protocol.RawMessage, member, of string) (protocol.RawMessage, error) {
	value := jsonspan.Get(params, member)
	switch text := jsonspan.Text(value); {
	case text == "":
		return nil, fmt.Errorf("the request names no %s", of)
	case strings.ContainsRune(text, 0):
		return nil, fmt.Errorf("the name of the %s has a NUL, where some programs take it to end", of)
	}
	return value, nil
}

// argumentsIn returns the arguments of the params, nil if there are none.
func argumentsIn(params protocol.RawMessage) (protocol.RawMessage, error) {
	args := jsonspan.Get(params, "arguments")
	if args == nil || jsonspan.IsNull(args) { // the Go SDK writes this for none
		return nil, nil
	}
	if jsonspan.Kind(args) != '{' {
		return nil, errors.New("the arguments of the request are " + jsonspan.KindName(args) + ", not an object")
	}
	return args, nil
}

func readTool(g *guard, params protocol.RawMessage) (string, protocol.RawMessage, error) {
	name, err := nameIn(params, "name", "tool")
	if err != nil {
		return "", nil, err
	}
	if err := g.checkName(jsonspan.Text(name)); err != nil {
		return "", nil, err
	}
	args, err := argumentsIn(params)
	if args == nil {
		args = protocol.RawMessage("{}")
	}
	return toolname.Served(g.prefix, jsonspan.Text(name)), args, err
}

func writeTool(params, args protocol.RawMessage) protocol.RawMessage {
	return withArguments(params, args)
}

// withArguments returns params with other arguments, in the bytes that the client wrote as
// far as they say the same.
func withArguments(params, args protocol.RawMessage) protocol.RawMessage {
	if was := jsonspan.Get(params, "arguments"); jsonspan.Kind(was) == '{' {
		args, _ = (*jsonspan.Budget)(nil).Edit(was, args)
	}
	return relay.Replace(params, "arguments", args)
}

func checkTool(c *call, args protocol.RawMessage) error {
	return c.guard.tools.check(jsonspan.Text(jsonspan.Get(c.asked.params, "name")), args)
}

// What hooks read of a request for what a server has besides tools: the tool that agents
// have for it, with the args that it has there (protocol/toolname).
const (
	resourceTool = "read_mcp_resource"
	promptTool   = "get_mcp_prompt"
)

func readResource(g *guard, params protocol.RawMessage) (string, protocol.RawMessage, error) {
	uri, err := nameIn(params, "uri", "resource")
	if err != nil {
		return "", nil, err
	}
	if err := g.checkAddress(jsonspan.Text(uri)); err != nil {
		return "", nil, err
	}
	return resourceTool, argsOf(g, "uri", uri).Object(), nil
}

// checkAddress returns an error for an address in another spelling than the usual one where hooks may
// refuse or change reads: they compare addresses as they are written, and servers do not.
func (g *guard) checkAddress(uri string) error {
	usual := proxied.UsualAddress(uri)
	if usual == uri {
		return nil
	}
	call := protocol.Call{Name: resourceTool, Kind: protocol.KindMCP, Server: g.options.Server, Args: argsOf(g, "uri", jsonspan.Quote(usual)).Object()}
	if !g.judges(&call) {
		return nil
	}
	return fmt.Errorf("hooks judge reads of resources, and servers take %s for %s: write it so", jsonspan.Quote(uri), jsonspan.Quote(usual))
}

func readPrompt(g *guard, params protocol.RawMessage) (string, protocol.RawMessage, error) {
	name, err := nameIn(params, "name", "prompt")
	if err != nil {
		return "", nil, err
	}
	arguments, err := argumentsIn(params)
	if err != nil {
		return "", nil, err
	}
	args := argsOf(g, "name", name)
	if arguments != nil {
		args.Set([]byte(`"arguments"`), arguments)
	}
	return promptTool, args.Object(), nil
}

// argsOf begins the args of a read: the server, and what is read.
func argsOf(g *guard, member string, value protocol.RawMessage) *jsonspan.ObjectWriter {
	args := &jsonspan.ObjectWriter{}
	args.Set([]byte(`"server"`), jsonspan.Quote(g.options.Server))
	args.Set(jsonspan.Quote(member), value)
	return args
}

func writeResource(params, args protocol.RawMessage) protocol.RawMessage {
	return relay.Replace(params, "uri", jsonspan.Get(args, "uri"))
}

func writePrompt(params, args protocol.RawMessage) protocol.RawMessage {
	if name := jsonspan.Get(args, "name"); !jsonspan.Equal(name, jsonspan.Get(params, "name")) {
		params = relay.Replace(params, "name", name)
	}
	switch arguments := jsonspan.Get(args, "arguments"); {
	case arguments == nil:
		return jsonspan.Without(params, "arguments")
	default:
		return withArguments(params, arguments)
	}
}

func checkResource(c *call, args protocol.RawMessage) error { return checkRead(c, args, "uri") }

func checkPrompt(c *call, args protocol.RawMessage) error {
	return checkRead(c, args, "name", "arguments")
}

// checkRead says why args of a read that hooks changed cannot be written to the members of
// the request, of which the first names what is read.
func checkRead(c *call, args protocol.RawMessage, members ...string) error {
	if text := jsonspan.Text(jsonspan.Get(args, members[0])); text == "" || strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s of %s must be a text that is not empty and has no NUL", members[0], c.Name)
	}
	for _, m := range jsonspan.Members(args) {
		switch {
		case m.Name == "server":
			if jsonspan.Text(m.Value) != c.guard.options.Server {
				return errors.New("server is where the request goes, and cannot be changed")
			}
		case !slices.Contains(members, m.Name):
			return fmt.Errorf("%s has no arg %s: hooks can change %s", c.Name, jsonspan.Quote(m.Name), strings.Join(members, " and "))
		case m.Name == "arguments" && jsonspan.Kind(m.Value) != '{':
			return fmt.Errorf("arguments of %s are %s, not an object", c.Name, jsonspan.KindName(m.Value))
		}
	}
	return nil
}

// resourcePart returns what hooks read of an item of a resource: its text or its image. All
// else is there as it was written, also what has both.
func resourcePart(item protocol.RawMessage) protocol.Part {
	text, blob := jsonspan.Get(item, "text"), jsonspan.Get(item, "blob")
	mediaType := jsonspan.Text(jsonspan.Get(item, "mimeType"))
	switch {
	case jsonspan.Kind(text) == '"' && blob == nil:
		return protocol.Part{Type: protocol.PartText, Text: jsonspan.Text(text)}
	case text == nil && jsonspan.Kind(blob) == '"' && strings.HasPrefix(mediaType, "image/"):
		return protocol.Part{Type: protocol.PartImage, MediaType: mediaType, Data: blob}
	}
	return protocol.Part{Type: protocol.PartOpaque, Provider: provider, Data: item}
}

func resourceText(item protocol.RawMessage, text string) protocol.RawMessage {
	return relay.Replace(item, "text", jsonspan.Quote(text))
}

// resourceItem writes a part as an item of a resource. One that stands for no item of the
// server has the address that was asked for.
func resourceItem(part *protocol.Part, was, args protocol.RawMessage) (protocol.RawMessage, error) {
	item := jsonspan.Without(was, "text", "blob", "mimeType")
	if jsonspan.Kind(was) != '{' {
		item = relay.Replace([]byte("{}"), "uri", jsonspan.Get(args, "uri"))
	}
	switch {
	case part.Type == protocol.PartText:
		return resourceText(item, part.Text), nil
	case part.Type == protocol.PartImage && jsonspan.Kind(part.Data) == '"':
		return relay.Replace(relay.Replace(item, "mimeType", jsonspan.Quote(part.MediaType)), "blob", part.Data), nil
	case isOpaque(part):
		return part.Data, nil
	}
	return nil, unwritable(part)
}

// messagePart returns what hooks read of a message of a prompt: its content.
func messagePart(item protocol.RawMessage) protocol.Part {
	return partOf(jsonspan.Get(item, "content"))
}

func messageText(item protocol.RawMessage, text string) protocol.RawMessage {
	return relay.Replace(item, "content", withText(jsonspan.Get(item, "content"), text))
}

// messageItem writes a part as a message of a prompt. One that stands for no message of the
// server is the user's.
func messageItem(part *protocol.Part, was, args protocol.RawMessage) (protocol.RawMessage, error) {
	content, err := toolItem(part, nil, args)
	if err != nil {
		return nil, err
	}
	if jsonspan.Kind(was) != '{' {
		was = []byte(`{"role":"user"}`)
	}
	return relay.Replace(was, "content", content), nil
}
