package eventcmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/realpath"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// event returns an event as a person fires it by hand.
func (cmd *Commands) event(name protocol.EventName, data protocol.RawMessage, session, project string) (protocol.Event, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return protocol.Event{}, places.NoDirectory()
	}
	return eventIn(cwd, name, data, session, project)
}

// eventIn returns an event of an agent that works in a folder.
func eventIn(cwd string, name protocol.EventName, data protocol.RawMessage, session, project string) (protocol.Event, error) {
	event := protocol.Event{
		Protocol: protocol.Version, Event: name, ID: protocol.NewID(), Time: time.Now().UTC(),
		Session: protocol.Session{ID: session}, Agent: protocol.Agent{ID: "main", Depth: hookenv.ProcessDepth(), Host: "hookd"},
		Project: project, Cwd: cwd, Data: data,
	}
	withTouched(&event)
	if err := protocol.CheckEvent(&event); err != nil {
		return event, cli.Usage("bad-event", err.Error(), "hookd schema event prints what an event looks like")
	}
	return event, nil
}

// withTouched makes an event about a file tool say which file the call touches, as the
// agent does, also after a hook changed its arguments.
func withTouched(event *protocol.Event) {
	if _, known := toolname.Kind(jsonspan.Text(jsonspan.Get(event.Data, "name"))); known {
		realpath.OfCall(event, cmp.Or(event.Project, event.Cwd))
	}
}

// eventData reads --data, or takes a sample where there is none.
func (cmd *Commands) eventData(name protocol.EventName, given string, isGiven bool, tools []string) (protocol.RawMessage, error) {
	if !isGiven {
		return sampleData(name, tools), nil
	}
	text, err := readData(cmd.Console.In, given)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !jsontext.Value(text).IsValid(jsontext.AllowInvalidUTF8(true)) {
		return nil, cli.Usage("bad-data", "--data is not one JSON value: "+whyNotJSON(text), `for example --data '{"prompt":"hello"}', @FILE or -`)
	}
	spec := protocol.Lookup(name)
	return readAsEvent(name, protocol.Complete(spec, withKind(spec, text)))
}

// readAsEvent reads data as the event of any host is read: strictly, but with half
// surrogate pairs replaced.
func readAsEvent(name protocol.EventName, data protocol.RawMessage) (protocol.RawMessage, error) {
	line := slices.Concat([]byte(`{"event":"`+name+`","data":`), data, []byte("}"))
	event, err := protocol.DecodeEvent(line, protocol.DecodeLimits{})
	if err != nil {
		return nil, cli.Usage("bad-data", err.Error(), "hookd schema event prints what an event looks like")
	}
	return event.Data, nil
}

// withKind adds a tool call's kind where a person left it out and the tool is a
// known one.
func withKind(spec *protocol.Spec, data protocol.RawMessage) protocol.RawMessage {
	if kind := jsonspan.Get(data, "kind"); !spec.Tool || kind != nil && jsonspan.Kind(kind) != 'n' {
		return data
	}
	toolName, err := jsontext.AppendUnquote(nil, jsonspan.Get(data, "name"))
	if err != nil {
		return data
	}
	kind, known := toolname.Kind(string(toolName))
	rest, isObject := bytes.CutPrefix(data, []byte("{"))
	if !known || !isObject {
		return data
	}
	return fmt.Appendf(nil, `{"kind":%q,%s`, kind, rest)
}

func readData(in io.Reader, given string) ([]byte, error) {
	switch {
	case given == "-":
		text, err := io.ReadAll(in)
		if err != nil {
			return nil, cli.Failed("read", fmt.Errorf("read stdin: %w", err), "")
		}
		return text, nil
	case strings.HasPrefix(given, "@"):
		text, err := os.ReadFile(given[1:])
		if err != nil {
			return nil, cli.Usage("read", err.Error(), "")
		}
		return text, nil
	}
	return []byte(given), nil
}

// whyNotJSON says where a text stops being JSON.
func whyNotJSON(text []byte) string {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadValue(); err != nil {
		return strings.TrimPrefix(err.Error(), "jsontext: ")
	}
	return fmt.Sprintf("more text after byte %d", dec.InputOffset())
}
