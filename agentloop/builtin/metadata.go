package builtin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Metadata lets the model keep notes with the session, metadata_write, and read
// them and what hooks keep there, metadata_read and metadata_list. The notes are
// the metadata of the hook metadata, one member for each key, so that every hook
// sees them; limit bounds them, in bytes of JSON (the setting
// hooks.limits.metadata; 0: 16 KiB). What does not fit is an error that the model
// reads, and changes nothing.
//
// The hook answers in the tools' place. A note is kept when its call has ended,
// so that a hook that refuses the call keeps it out.
func Metadata(limit int64) provider.Provider {
	if limit == 0 {
		limit = 16 << 10
	}
	m := &metadata{limit: limit, sessions: map[string]*notes{}}
	return provider.Provider{
		Name: "metadata",
		Tools: []tool.Tool{
			tool.New(tool.Description{
				Name:        "metadata_read",
				Description: "Reads a note that you kept for this session with metadata_write; with hook, what the hook of that name keeps.",
			}, answeredByHook[metadataRead]),
			tool.New(tool.Description{
				Name:        "metadata_write",
				Description: fmt.Sprintf("Keeps a note for this session, readable by hooks and by you later on. All notes together may have %d bytes. Without value the note is removed.", limit),
				Schema:      protocol.RawMessage(metadataWriteSchema),
			}, answeredByHook[metadataWrite]),
			tool.New(tool.Description{
				Name:        "metadata_list",
				Description: "Lists your notes of this session, and the hooks that keep something there.",
			}, answeredByHook[struct{}]),
		},
		Hooks: []protocol.GoHook{{
			Name:        metadataHook,
			Description: "keeps the model's notes with the session",
			Events:      []protocol.EventName{protocol.ToolCallStart, protocol.ToolCallEnd},
			Match:       protocol.Match{Tool: []string{"metadata_read", "metadata_write", "metadata_list"}},
			Func:        m.onEvent,
		}},
	}
}

const metadataHook = "metadata"

type metadataRead struct {
	Key  string `json:"key,omitempty" jsonschema:"of your own notes"`
	Hook string `json:"hook,omitempty" jsonschema:"read what this hook keeps; then key is not needed"`
}

type metadataWrite struct {
	Key   string              `json:"key" jsonschema:"name of the note"`
	Value protocol.RawMessage `json:"value,omitempty" jsonschema:"any JSON value; absent or null removes the note"`
}

// metadataWriteSchema is stated, since a value may be anything, which no Go type says.
const metadataWriteSchema = `{"type":"object","properties":{"key":{"type":"string","minLength":1,"description":"name of the note"},` +
	`"value":{"description":"any JSON value; absent or null removes the note"}},"required":["key"],"additionalProperties":false}`

// answeredByHook is the run function of a tool whose hook answers in its place.
func answeredByHook[A any](context.Context, A) (protocol.Result, error) {
	return protocol.Result{}, errors.New("the hook metadata, which does this tool's work, was not asked")
}

type metadata struct {
	limit int64

	mu       sync.Mutex
	sessions map[string]*notes
}

// notes are those of a session, by key. Once read they are ahead of what events show:
// calls that run side by side all see the earlier value.
type notes map[string]protocol.RawMessage

func (m *metadata) onEvent(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	var data struct {
		protocol.Call
		Result protocol.Result `json:"result"`
	}
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	mine, err := m.notes(ev)
	if err != nil {
		return protocol.Reply{}, err
	}
	if ev.Event == protocol.ToolCallEnd {
		if data.Name != "metadata_write" || data.Result.IsError {
			return protocol.Reply{}, nil
		}
		return m.keep(mine, data.Args)
	}
	text, err := m.answer(mine, ev, &data.Call)
	result := protocol.Result{Content: protocol.TextContent(text)}
	if err != nil {
		result = protocol.Result{Content: protocol.TextContent(err.Error()), IsError: true}
	}
	encoded, err := protocol.Marshal(result)
	return protocol.Reply{Action: protocol.Modify, Result: encoded}, err
}

func (m *metadata) notes(ev *protocol.Event) (*notes, error) {
	if known := m.sessions[ev.Session.ID]; known != nil {
		return known, nil
	}
	all, err := metadataOf(ev)
	if err != nil {
		return nil, err
	}
	mine := notes{}
	if value := all[metadataHook]; jsonspan.Kind(value) == '{' {
		if err := json.Unmarshal(value, &mine); err != nil {
			return nil, fmt.Errorf("the notes that were kept: %w", protocol.PlainError(err))
		}
	}
	m.sessions[ev.Session.ID] = &mine
	return &mine, nil
}

// metadataOf returns what each hook keeps, by its name.
func metadataOf(ev *protocol.Event) (map[string]protocol.RawMessage, error) {
	all := map[string]protocol.RawMessage{}
	if len(ev.Metadata) == 0 || jsonspan.Kind(ev.Metadata) != '{' {
		return all, nil
	}
	return all, json.Unmarshal(ev.Metadata, &all)
}

// answer returns what the model reads of a call.
func (m *metadata) answer(mine *notes, ev *protocol.Event, call *protocol.Call) (string, error) {
	if call.Name == "metadata_write" {
		_, _, said, err := m.with(mine, call.Args)
		return said, err
	}
	others, err := metadataOf(ev)
	if err != nil {
		return "", err
	}
	delete(others, metadataHook)
	if call.Name == "metadata_list" {
		return listNotes("your notes", *mine) + "\n" + listNotes("hooks that keep something", others), nil
	}
	var args metadataRead
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return "", err
	}
	from, key, what := map[string]protocol.RawMessage(*mine), args.Key, "note"
	if args.Hook != "" && args.Hook != metadataHook {
		from, key, what = others, args.Hook, "hook"
	}
	value, found := from[key]
	if !found {
		return "", fmt.Errorf("there is no %s %q; %s", what, key, listNotes("there are", from))
	}
	return string(value), nil
}

func listNotes(what string, values map[string]protocol.RawMessage) string {
	if len(values) == 0 {
		return what + ": none"
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, fmt.Sprintf("%s (%d bytes)", key, len(values[key])))
	}
	return what + ": " + strings.Join(lines, ", ")
}

// with returns the notes as a call of metadata_write would leave them, and what the
// model reads of it.
func (m *metadata) with(mine *notes, raw protocol.RawMessage) (notes, protocol.RawMessage, string, error) {
	var args metadataWrite
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, nil, "", err
	}
	if args.Key == "" {
		return nil, nil, "", errors.New("a note needs a key")
	}
	after := maps.Clone(*mine)
	said := "kept " + args.Key
	if len(args.Value) == 0 || jsonspan.Kind(args.Value) == 'n' {
		delete(after, args.Key)
		said = "removed " + args.Key
	} else {
		after[args.Key] = args.Value
	}
	encoded, err := protocol.Marshal(after)
	if err != nil {
		return nil, nil, "", err
	}
	if size := int64(len(encoded)); size > m.limit && len(after) >= len(*mine) {
		return nil, nil, "", fmt.Errorf("not kept: your notes would have %d bytes, and may have %d; make the value shorter, or remove notes first (%s)",
			size, m.limit, listNotes("there are", *mine))
	}
	return after, encoded, said, nil
}

// keep stores the note of a write that has ended. It may not fit any more: calls that
// ran at the same time may have come first.
func (m *metadata) keep(mine *notes, args protocol.RawMessage) (protocol.Reply, error) {
	after, encoded, _, err := m.with(mine, args)
	if err != nil {
		result := protocol.Result{Content: protocol.TextContent(err.Error()), IsError: true}
		changes, err := protocol.Marshal(map[string]protocol.Result{"result": result})
		return protocol.Reply{Action: protocol.Modify, Changes: changes}, err
	}
	*mine = after
	return protocol.Reply{Metadata: encoded}, nil
}
