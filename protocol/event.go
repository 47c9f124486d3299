package protocol

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// RawMessage is the bytes of a JSON value, as encoding/json has it: a user
// of this package needs no other JSON library than the standard one.
type RawMessage = json.RawMessage

// Event is one agent event: the envelope a hook reads on stdin, and what a host
// hands to the executor. Data stays raw JSON so that numbers keep their digits
// and bytes that no hook changed stay as they were.
type Event struct {
	Protocol   int        `json:"protocol"`
	Event      EventName  `json:"event"`
	ID         string     `json:"id" jsonschema:"unique per event (a ULID)"`
	Seq        *int64     `json:"seq" jsonschema:"rises strictly in a session from its opening on; null where no host counts"`
	Time       time.Time  `json:"time" jsonschema:"UTC, RFC 3339 with milliseconds"`
	Session    Session    `json:"session"`
	Agent      Agent      `json:"agent"`
	Project    string     `json:"project" jsonschema:"absolute path of the project root, empty without one"`
	Cwd        string     `json:"cwd" jsonschema:"absolute path of the agent's working directory"`
	Turn       int        `json:"turn" jsonschema:"user prompts so far in the session"`
	Step       int        `json:"step" jsonschema:"model calls so far in the run"`
	Recipe     *string    `json:"recipe" jsonschema:"name of the recipe that this run executes"`
	Compaction Compaction `json:"compaction"`
	Usage      RunUsage   `json:"usage" jsonschema:"this run's, sub-agents included"`

	Data RawMessage `json:"data"`

	// Per-hook members. The executor fills them in for each hook; a host leaves
	// them empty.
	Layer    Layer        `json:"layer,omitzero" jsonschema:"the layer of the hook that reads this"`
	Outcome  OutcomeSoFar `json:"outcome,omitzero" jsonschema:"what the hooks before this one decided"`
	State    RawMessage   `json:"state,omitzero" jsonschema:"the hook's own state in this session, null if none"`
	Metadata RawMessage   `json:"metadata,omitzero" jsonschema:"every hook's metadata in this session, by hook name"`

	// Unknown holds members that this version does not know. They are passed on, and hooks
	// must tolerate them.
	Unknown jsontext.Value `json:",embed"`

	// CheckArgs checks a tool call's changed args against the tool's schema. It
	// is set by a host that knows the schema, and nil otherwise.
	CheckArgs func(args RawMessage) error `json:"-"`

	// Touches returns what a tool call with changed args would touch. It is set by a host
	// that can say so. Without it an event whose args were changed no longer says what the
	// call touches.
	Touches func(args RawMessage) Touched `json:"-"`

	// ResolveAsk, if set, is called once the hooks have decided and before the decision is
	// recorded: where the outcome is an ask, the host asks the person and completes the
	// outcome. No limit of hooks applies to it. An error aborts the event, as the end of
	// the context does.
	ResolveAsk func(ctx context.Context, outcome *Outcome) error `json:"-"`

	// Lost, if set, returns the parts of a decided outcome that the host cannot carry out,
	// each a sentence for the person. It is called once all is decided and before that is
	// recorded, and does nothing but look; see [Outcome.Lost].
	Lost func(outcome *Outcome) []string `json:"-"`

	// ModelArgs are the args of a call as the model gave them, if hooks changed them since.
	// hookd fills them in for hooks in Go only. A hook that checks a call against a rule
	// checks both versions, and must not show the person what Data does not show.
	ModelArgs RawMessage `json:"-"`

	// Epoch numbers the openings of the session: it rises with each, and Seq begins anew.
	// It is 0 where the host does not count. A host that opens sessions itself sets it to
	// the time of opening in nanoseconds; no hook reads it.
	Epoch int64 `json:"-"`

	// NotAsked are hooks that are not asked about this event: it happens in a
	// recipe that they asked for at an event of the same name.
	NotAsked []HookRef `json:"-"`

	// Detached says that the event is delivered although the host was already told to end:
	// what it reports has happened. Its hooks are asked even if the context of Fire has
	// ended; Fire itself still returns when that context ends. It has an effect only on
	// events whose row is [Spec.Detachable].
	Detached bool `json:"-"`
}

// Session names the conversation an event belongs to.
type Session struct {
	ID         string `json:"id" jsonschema:"empty without a session"`
	Transcript string `json:"transcript,omitzero" jsonschema:"absolute path of the session's JSONL file"`
	Key        string `json:"key,omitzero" jsonschema:"daemon only: the secret that session/open handed out; no hook sees it"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// Agent names the agent that an event comes from.
type Agent struct {
	ID     string  `json:"id" jsonschema:"main for the top agent"`
	Parent *string `json:"parent" jsonschema:"id of the agent that started this one"`
	Depth  int     `json:"depth" jsonschema:"0 for the top agent"`
	Host   string  `json:"host" jsonschema:"program that fires the event: hookd, claude, …"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// Compaction is the host's compaction setting.
type Compaction struct {
	Auto      bool    `json:"auto"`
	Threshold float64 `json:"threshold" jsonschema:"share of the context window, 0 to 1"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// RunUsage is what a run has used so far. Unknown figures are null, never 0.
type RunUsage struct {
	InputTokens   *int64   `json:"inputTokens"`
	OutputTokens  *int64   `json:"outputTokens"`
	ContextTokens *int64   `json:"contextTokens"`
	ContextMax    *int64   `json:"contextMax"`
	CostUSD       *float64 `json:"costUsd"`

	Unknown jsontext.Value `json:",embed"` // passed on
}

// OutcomeSoFar is what the hooks before this one decided so far; for an observer it
// is final.
type OutcomeSoFar struct {
	Action  Action   `json:"action"`
	By      *string  `json:"by" jsonschema:"name of the hook that decided"`
	Changed []string `json:"changed" jsonschema:"JSON Pointers below data"`
}

// Layer is where a hook comes from. A higher layer runs later within a class,
// so its change stands and its verdict is on the final event.
type Layer string

const (
	Project Layer = "project"
	User    Layer = "user"
	Managed Layer = "managed"
	Builtin Layer = "builtin" // compiled in; runs before the project's hooks
)

// Rank orders the layers: built-ins run first, the managed layer last. A hook
// of a lower rank never undoes what one of a higher rank said.
func (l Layer) Rank() int {
	switch l {
	case Project:
		return 1
	case User:
		return 2
	case Managed:
		return 3
	}
	return 0
}

// Origin is where a hook comes from: its layer and, of projects that lie in one
// another, which. A hook of a project above the one that is worked in has the way
// to it before its name (../../guard.sh), and is to the inner project's hooks what
// a hook of a higher layer is: they neither undo what it said nor use up what it
// needs. The zero value is the origin of no hook.
type Origin struct {
	Layer Layer
	Above int // folders between the project that is worked in and the hook's own
}

// OriginOf is the origin of a hook that is known by its layer and name.
func OriginOf(layer Layer, name string) Origin {
	o := Origin{Layer: layer}
	for layer == Project && strings.HasPrefix(name, "../") {
		o.Above, name = o.Above+1, name[len("../"):]
	}
	return o
}

// Origin is where the hook comes from.
func (v HookInfo) Origin() Origin { return OriginOf(v.Layer, v.Name) }

// Origin is where the hook comes from.
func (r Run) Origin() Origin { return OriginOf(r.Source, r.Hook) }

// Origin is where the hook comes from.
func (r HookRef) Origin() Origin { return OriginOf(r.Layer, r.Name) }

// Compare orders origins: below 0 if o stands below other.
func (o Origin) Compare(other Origin) int {
	return cmp.Or(cmp.Compare(o.Layer.Rank(), other.Layer.Rank()), cmp.Compare(o.Above, other.Above))
}

// String names the origin in messages.
func (o Origin) String() string {
	if o.Above == 0 {
		return string(o.Layer)
	}
	return string(o.Layer) + " " + strings.TrimSuffix(strings.Repeat("../", o.Above), "/")
}

var errSessionID = errors.New("must be up to 128 letters, digits and - _ . : @, and not begin with a dot")

// CheckSessionID keeps the ids that people and hosts give to sessions to what can name a
// file, an argument and a variable: records and state of a session are kept under its
// id, and hooks read it.
func CheckSessionID(id string) error {
	if id == "" || len(id) > 128 || id[0] == '.' || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:@") != "" {
		return errSessionID
	}
	return nil
}

// NewID returns a ULID: 48 bits of time in milliseconds and 80 random ones, as 26
// letters and digits that sort by time. Those of one process rise, within a
// millisecond too. It may be called concurrently.
//
// It is written out here because the library for it seeds a random source of 5
// KiB in every process that links it.
func NewID() string { return ids.next(time.Now()).String() }

// id is the 128 bits of a ULID.
type id struct{ high, low uint64 }

// ids are those of this process.
var ids idSequence

type idSequence struct {
	mu   sync.Mutex
	last id
}

// next is a fresh id, or the one after the last where that would not be greater.
func (s *idSequence) next(now time.Time) id {
	fresh := id{uint64(now.UnixMilli())<<16 | rand.Uint64()>>48, rand.Uint64()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if fresh.high>>16 <= s.last.high>>16 {
		if fresh = s.last; fresh.low == ^uint64(0) {
			fresh.high++
		}
		fresh.low++
	}
	s.last = fresh
	return fresh
}

// String writes an id in Crockford's base 32.
func (i id) String() string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var text [26]byte
	high, low := i.high, i.low
	for at := len(text) - 1; at >= 0; at-- {
		text[at] = digits[low&31]
		high, low = high>>5, low>>5|high<<59
	}
	return string(text[:])
}
