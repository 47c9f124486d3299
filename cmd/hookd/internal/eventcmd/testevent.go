package eventcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// testEvent makes the event that a test gives.
func (cmd *tester) testEvent(s *suite, given *testfile.Given) (protocol.Event, error) {
	root := s.snapshot.Project
	if root == "" {
		root = filepath.Dir(s.file.Path)
	}
	name, data, err := given.Event, given.Data, error(nil)
	switch {
	case given.Record != "":
		name, data, err = recorded(given.Record)
	case data == nil:
		if name, err = eventFor(s.hook, given); err == nil {
			data, err = shortData(s.hook, name, given)
		}
	}
	if err != nil {
		return protocol.Event{}, err
	}
	spec := protocol.Lookup(name)
	if data, err = readAsEvent(name, protocol.Complete(spec, withKind(spec, data))); err != nil {
		return protocol.Event{}, err
	}
	event, err := eventIn(root, name, data, "", s.snapshot.Project)
	if err == nil && given.Usage != nil {
		if err := json.Unmarshal(given.Usage, &event.Usage); err != nil {
			return event, cli.Usage("bad-test", "usage: "+protocol.PlainError(err).Error(), "write usage: { costUsd: 1.5, contextTokens: 1000 }")
		}
	}
	return event, err
}

// isCall reports whether a test gives a call of a tool.
func isCall(given *testfile.Given) bool {
	if given.Tool != "" || given.Args != nil {
		return true
	}
	for _, v := range given.Short {
		if v.Key.Place == testfile.OfCall {
			return true
		}
	}
	return false
}

// eventFor returns the event that a test is about: the one it names, or the first of the
// hook's events that has all that is given.
func eventFor(hook *executor.Hook, given *testfile.Given) (protocol.EventName, error) {
	if given.Event != "" {
		if missing := lacks(given.Event, given); missing != "" {
			return "", cli.Usage("bad-test", fmt.Sprintf("%s has no %s", given.Event, missing), "leave one of them out, or write the event's data: as an object")
		}
		return given.Event, nil
	}
	events := hook.Events
	if len(events) == 0 {
		events = []protocol.EventName{protocol.ToolCallStart}
	}
	missing := ""
	for _, event := range events {
		if missing = lacks(event, given); missing == "" {
			return event, nil
		}
	}
	remedy := "name the event"
	for i := range protocol.Table {
		if event := protocol.Table[i].Name; lacks(event, given) == "" {
			remedy += ", for example event: " + string(event)
			break
		}
	}
	return "", cli.Usage("bad-test", "none of the hook's events has "+missing, remedy)
}

// lacks returns what is given and an event does not have, "" if it has all.
func lacks(event protocol.EventName, given *testfile.Given) string {
	spec, sample := protocol.Lookup(event), sampleData(event, nil)
	if isCall(given) && !spec.Tool {
		return "call of a tool"
	}
	for _, v := range given.Short {
		if v.Key.Place == testfile.OfData && jsonspan.Get(sample, v.Key.Name) == nil {
			return v.Key.Name
		}
	}
	return ""
}

// shortData returns a sample of the event's data with what a test gives in its place.
func shortData(hook *executor.Hook, event protocol.EventName, given *testfile.Given) (protocol.RawMessage, error) {
	data := sampleData(event, hook.Match.Tool)
	if protocol.Lookup(event).Tool && isCall(given) {
		data = withCall(data, given)
	}
	for _, v := range given.Short {
		if v.Key.Place == testfile.OfData {
			data = put(data, v.Key.Name, dataValue(event, v))
		}
	}
	return data, nil
}

// withCall returns the data of an event with the call that a test gives.
func withCall(data protocol.RawMessage, given *testfile.Given) protocol.RawMessage {
	name, args := given.Tool, given.Args
	if name == "" {
		name = toolOf(given)
	}
	kind, known := toolname.Kind(name)
	if !known && strings.HasPrefix(name, "mcp__") {
		kind = protocol.KindMCP
		if server, _, is := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__"); is {
			data = put(data, "server", jsonspan.Quote(server))
		}
	}
	for _, v := range given.Short {
		if v.Key.Place == testfile.OfCall {
			if args == nil {
				args = protocol.RawMessage("{}")
			}
			args = put(args, v.Key.Name, v.JSON)
		}
	}
	if args == nil {
		args = sampleArgs(name)
	}
	data = put(data, "name", jsonspan.Quote(name))
	data = put(data, "kind", jsonspan.Quote(string(kind)))
	return put(data, "args", args)
}

// put returns an object with a member in the place of the one of that name.
func put(object protocol.RawMessage, name string, value []byte) protocol.RawMessage {
	return jsonspan.With(jsonspan.Without(object, name), name, value)
}

// sampleArgs are the args of a call of a tool about which a test says no more.
func sampleArgs(tool string) protocol.RawMessage {
	if call, known := sampleCalls[tool]; known {
		return jsonspan.Get(protocol.RawMessage("{"+call+"}"), "args")
	}
	return protocol.RawMessage("{}")
}

// toolOf returns the tool that the short keys of a test mean.
func toolOf(given *testfile.Given) string {
	has := map[string]bool{}
	for _, v := range given.Short {
		has[v.Key.Name] = true
	}
	switch {
	case has["command"]:
		return "bash"
	case has["oldText"] || has["newText"]:
		return "edit_file"
	case has["content"]:
		return "write_file"
	case has["url"]:
		return "fetch"
	case has["pattern"]:
		return "grep"
	case has["path"]:
		return "read_file"
	}
	return "bash"
}

// dataValue returns the value of a short key as the event has it: a string stands for a
// whole result, error or message.
func dataValue(event protocol.EventName, v testfile.Value) protocol.RawMessage {
	if jsonspan.Kind(v.JSON) != '"' {
		return v.JSON
	}
	switch v.Key.Name {
	case "result":
		return bytes.Join([][]byte{[]byte(`{"content":[{"type":"text","text":`), v.JSON, []byte(`}],"isError":false}`)}, nil)
	case "error":
		return bytes.Join([][]byte{[]byte(`{"kind":"failed","text":`), v.JSON, []byte("}")}, nil)
	case "message":
		if event == protocol.InferenceEnd {
			return bytes.Join([][]byte{[]byte(`{"role":"assistant","content":`), v.JSON, []byte("}")}, nil)
		}
	}
	return v.JSON
}

// recorded returns an event as the records of this user have it.
func recorded(id string) (protocol.EventName, protocol.RawMessage, error) {
	state, err := places.StateDir()
	if err != nil {
		return "", nil, err
	}
	dir := filepath.Join(state, "records")
	names, err := record.Names(dir)
	if err != nil {
		return "", nil, cli.Failed("records", err, "")
	}
	for i := len(names) - 1; i >= 0; i-- {
		for line := range record.Read(dir, names[i]) {
			var event record.Event
			if line == nil || line.Kind != record.KindEvent || !bytes.Contains(line.Raw, []byte(id)) || line.Decode(&event) != nil || event.ID != id {
				continue
			}
			if event.Data.Value == nil {
				return "", nil, cli.Usage("no-record", "the record of "+id+" does not hold the event's data", "records.values: full keeps it for later events; or write the event in short form")
			}
			return event.Event, event.Data.Value, nil
		}
	}
	return "", nil, cli.Usage("no-record", "there is no recorded event "+id, "hookd log --json shows the id of each; or write the event in short form")
}
