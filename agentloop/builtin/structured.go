package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// StructuredOptions describe the answer that a run must end with.
type StructuredOptions struct {
	Schema protocol.RawMessage // JSON Schema of the final answer
	Tries  int                 // further ones, each told the exact error; 0: 2, negative: none

	// Forced and ForcedTotal are the caps of forced continuations (hooks.maxForced,
	// hooks.maxForcedTotal); 0: 5 and 20. Where one is reached no further try is
	// possible, so the run ends as after the last one.
	Forced, ForcedTotal int
}

// Structured holds the final answer of a session's main agent to a JSON Schema.
// The model reads the schema in the system text; an answer that does not fit is
// sent back with the error, and after the last try the run is stopped with that
// error as its reason: it never passes in silence. A code fence around the JSON
// does not matter. Runs that end without an answer of the model's own (a limit,
// a stop, an abort) are not held to it; their stop reason says so.
func Structured(o StructuredOptions) (provider.Provider, error) {
	s := &structured{tries: o.Tries, forced: orElse(o.Forced, 5), forcedTotal: orElse(o.ForcedTotal, 20), used: map[string]int{}}
	if s.tries = orElse(o.Tries, 2); o.Tries < 0 {
		s.tries = 0
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(o.Schema, &schema); err != nil {
		return provider.Provider{}, fmt.Errorf("the JSON Schema cannot be read: %w", protocol.PlainError(err))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return provider.Provider{}, fmt.Errorf("the JSON Schema does not hold: %w", err)
	}
	s.schema = resolved
	text := slices.Clone(o.Schema)
	if err := (*jsontext.Value)(&text).Compact(); err != nil {
		return provider.Provider{}, fmt.Errorf("the JSON Schema cannot be read: %w", err)
	}
	s.announced = "Your final answer must be one JSON value that fits this JSON Schema, with nothing before or after it:\n" + string(text)
	return provider.Provider{Name: "structured", Hooks: []protocol.GoHook{{
		Name:        "structured",
		Description: "holds the final answer to a JSON Schema",
		Events:      []protocol.EventName{protocol.AgentStart, protocol.AgentStop},
		OnFailure:   protocol.RuleBlock,
		Func:        s.onEvent,
	}}}, nil
}

func orElse(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

type structured struct {
	schema                     *jsonschema.Resolved
	announced                  string
	tries, forced, forcedTotal int

	mu   sync.Mutex
	used map[string]int // further tries of the run that goes on, by session
}

func (s *structured) onEvent(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	if ev.Agent.Parent != nil || ev.Recipe != nil {
		return protocol.Reply{}, nil // a sub-agent's answer, or a recipe's, is another one
	}
	if ev.Event == protocol.AgentStart {
		return s.announce(ev)
	}
	return s.judge(ev)
}

func (s *structured) announce(ev *protocol.Event) (protocol.Reply, error) {
	s.mu.Lock()
	delete(s.used, ev.Session.ID)
	s.mu.Unlock()
	var data struct {
		System string `json:"system"`
	}
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	if strings.Contains(data.System, s.announced) { // the session keeps it
		return protocol.Reply{}, nil
	}
	system := strings.TrimLeft(data.System+"\n\n"+s.announced, "\n")
	changes, err := protocol.Marshal(map[string]string{"system": system})
	return protocol.Reply{Action: protocol.Modify, Changes: changes}, err
}

func (s *structured) judge(ev *protocol.Event) (protocol.Reply, error) {
	var data struct {
		Response       string `json:"response"`
		Continued      int    `json:"continued"`
		ContinuedTotal int    `json:"continuedTotal"`
	}
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	wrong := s.check(data.Response)
	if wrong == nil {
		return protocol.Reply{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tried := s.used[ev.Session.ID]
	if tried >= s.tries || data.Continued >= s.forced || data.ContinuedTotal >= s.forcedTotal {
		return stop("the final answer does not fit the JSON Schema, after %d further tries: %v", tried, wrong), nil
	}
	s.used[ev.Session.ID]++
	return protocol.Reply{
		Action: protocol.Continue,
		Reason: fmt.Sprintf("Your answer does not fit the JSON Schema: %v. Answer again, with the JSON alone.", wrong),
	}, nil
}

// check reports what is wrong with an answer.
func (s *structured) check(answer string) error {
	value := protocol.RawMessage(unfenced(answer))
	if len(value) == 0 {
		return fmt.Errorf("it is empty")
	}
	var decoded any
	if err := json.Unmarshal(value, &decoded); err != nil {
		return fmt.Errorf("it is no JSON (%w)", err)
	}
	return s.schema.Validate(decoded)
}

// unfenced returns a text without the code fence around all of it.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	inner, fenced := strings.CutPrefix(text, "```")
	if !fenced {
		return text
	}
	first, rest, more := strings.Cut(inner, "\n")
	if body, closed := strings.CutSuffix(strings.TrimRight(rest, " \t\r\n"), "```"); more && closed && !strings.ContainsAny(first, "`{[") {
		return strings.TrimSpace(body)
	}
	return text
}
