package hookvalues

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Key names a hook: equal names in different layers, or in different projects, are
// different hooks. A session may go from one project into another that lies in it.
type Key struct {
	Layer   protocol.Layer
	Project string // the hook's own, "" for hooks of no project
	Name    string // as its own project has it
}

// What says which of a hook's two values is meant.
type What string

const (
	State    What = "state"    // private: only the hook itself reads it
	Metadata What = "metadata" // public: every later hook of the session reads it
)

// slot is the place of one value.
type slot struct {
	Key
	What
}

// stored is one value and who wrote it. Values that were removed stay as null,
// so that a late write of an older event is still known to be old.
type stored struct {
	value protocol.RawMessage
	seq   *int64 // of the event that wrote it, nil where no host counts
	epoch int64  // of the session, to which seq belongs
	rev   int64  // rises with every write of the session
}

// Snapshot is what hooks of one session remembered at one moment. It does not
// change.
type Snapshot struct {
	values map[slot]stored
	rev    int64
}

// State returns the hook's own state, nil if it has none.
func (v Snapshot) State(hook Key) protocol.RawMessage { return v.value(slot{hook, State}) }

func (v Snapshot) value(s slot) protocol.RawMessage {
	if value := v.values[s].value; !isNull(value) {
		return value
	}
	return nil
}

// Metadata returns what all hooks of the session published, as an object keyed
// by hook name. Where layers share a name, the bare name is the highest layer's
// and the others stand under layer/name: no hook can speak for one of a higher
// layer. prefixes are what stands before the names of each project's hooks; those of a
// project that is not among them have its path there.
func (v Snapshot) Metadata(prefixes map[string]string) protocol.RawMessage {
	type named struct {
		Key
		as string
	}
	keys := make([]named, 0, len(v.values))
	for s := range v.values {
		if s.What == Metadata && v.value(s) != nil {
			keys = append(keys, named{s.Key, s.displayName(prefixes)})
		}
	}
	slices.SortFunc(keys, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.as, b.as), cmp.Compare(b.Layer.Rank(), a.Layer.Rank()))
	})
	out := []byte{'{'}
	for i, key := range keys {
		name := key.as
		if i > 0 {
			out = append(out, ',')
			if keys[i-1].as == key.as {
				name = string(key.Layer) + "/" + key.as
			}
		}
		out, _ = jsontext.AppendQuote(out, name) // bad UTF-8 is replaced, never an error that matters
		out = append(out, ':')
		out = append(out, v.values[slot{key.Key, Metadata}].value...)
	}
	return append(out, '}')
}

// displayName returns the name that the hook has for others.
func (k Key) displayName(prefixes map[string]string) string {
	prefix, known := prefixes[k.Project]
	if !known && k.Project != "" {
		prefix = k.Project + "/"
	}
	return prefix + k.Name
}

// Write is one value that a hook's reply asks to keep. A null value removes it.
type Write struct {
	Key
	What
	Value protocol.RawMessage
	Seq   *int64 // of the event, nil where no host counts
	Epoch int64  // of the session, to which Seq belongs
	Saw   int64  // revision that the hook was shown, see [Snapshot.Revision]
}

// Overwritten is a write of an event that ran side by side with a later one. The later
// event's value stands.
type Overwritten struct {
	Hook string `json:"hook"`
	What What   `json:"what"`
	Seq  *int64 `json:"seq"` // of the event whose write is overwritten
}

// Revision identifies what was stored for a hook's value when the snapshot was made.
func (v Snapshot) Revision(hook Key, what What) int64 { return v.values[slot{hook, what}].rev }

// With returns the snapshot after writes, and the writes that are overwritten. Of two
// events that ran side by side the one of the later opening of the session and there
// the one with the higher seq stands, whichever wrote first.
func (v Snapshot) With(writes []Write) (Snapshot, []Overwritten) {
	var overwritten []Overwritten
	next := Snapshot{maps.Clone(v.values), v.rev}
	if next.values == nil {
		next.values = map[slot]stored{}
	}
	for _, w := range writes {
		at := slot{w.Key, w.What}
		before := next.values[at]
		sideBySide := before.rev != w.Saw
		if sideBySide && before.later(w) {
			overwritten = append(overwritten, Overwritten{w.Name, w.What, w.Seq})
			continue
		}
		if sideBySide && before.rev != 0 {
			overwritten = append(overwritten, Overwritten{w.Name, w.What, before.seq})
		}
		next.rev++
		next.values[at] = stored{slices.Clone(w.Value), w.Seq, w.Epoch, next.rev}
	}
	return next, overwritten
}

// later reports whether the value is of an event after the one that writes now.
func (s stored) later(w Write) bool {
	return s.seq != nil && w.Seq != nil && cmp.Or(cmp.Compare(s.epoch, w.Epoch), cmp.Compare(*s.seq, *w.Seq)) > 0
}

// Text says what is lost, for the hook's run.
func (l Overwritten) Text() string {
	of := "another event"
	if l.Seq != nil {
		of = fmt.Sprintf("event %d", *l.Seq)
	}
	return fmt.Sprintf("the %s that it gave at %s is lost: two events ran side by side, and the later one's stands", l.What, of)
}

// Texts says which values of a hook are lost.
func Texts(lost []Overwritten, hook string) (texts []string) {
	for _, l := range lost {
		if l.Hook == hook {
			texts = append(texts, l.Text())
		}
	}
	return texts
}

func isNull(v protocol.RawMessage) bool { return len(v) == 0 || jsonspan.Kind(v) == 'n' }
