package testfile

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// Type is the type of a key's value.
type Type string

// The types of values.
const (
	String       Type = "string"
	Object       Type = "object"
	Any          Type = "any value"
	TextOrObject Type = "string or object"
	Expect       Type = "verdict or object"
	TextForm     Type = "text"
	Changes      Type = "object of pointers"
)

// Place is where the value of a key goes in the event.
type Place string

// The places.
const (
	OfTest Place = ""     // about the test itself
	OfCall Place = "args" // a member of the tool's args
	OfData Place = "data" // a member of the event's data
)

// Key is one key of a test, or of its expect.
type Key struct {
	Name    string
	Type    Type
	Place   Place
	Meaning string
}

// Keys are the keys of a test.
var Keys = []Key{
	{"name", String, OfTest, "what the test shows, one line; default: what is given"},
	{"expect", Expect, OfTest, "what must come out: a verdict, or an object"},
	{"event", String, OfTest, "the event; default: the first of the hook's events that has what is given"},
	{"tool", String, OfTest, "the tool of the call; default: the one that the keys below mean"},
	{"args", Object, OfTest, "the tool's args as an object"},
	{"data", Object, OfTest, "the event's whole data, in place of the short keys"},
	{"record", String, OfTest, "the ID of a recorded event, in place of all other keys of the event"},
	{"state", Any, OfTest, "what the hook kept for itself in this session before"},
	{"usage", Object, OfTest, "what the run has used so far, as { costUsd: 1.5 }"},
	{"command", String, OfCall, "the shell command"},
	{"path", String, OfCall, "the file or folder"},
	{"content", String, OfCall, "what is written to the file"},
	{"oldText", String, OfCall, "what an edit replaces"},
	{"newText", String, OfCall, "what it puts there"},
	{"url", String, OfCall, "the address"},
	{"pattern", String, OfCall, "what is searched for"},
	{"prompt", String, OfData, "the prompt"},
	{"response", String, OfData, "the agent's last words"},
	{"result", TextOrObject, OfData, "the tool's result; a string is its text"},
	{"error", TextOrObject, OfData, "the tool's error; a string is its text"},
	{"message", TextOrObject, OfData, "the model's message; a string is its text"},
	{"source", String, OfData, "where a session or a prompt comes from"},
	{"text", String, OfData, "the text of a notification"},
}

// WantKeys are the keys of an object below expect.
var WantKeys = []Key{
	{"verdict", String, OfTest, "what the hook decides"},
	{"reason", TextForm, OfTest, "the reason, as model and person read it"},
	{"changed", Changes, OfTest, "the fields that the hook changes, as JSON Pointers below data, with their new values; {} for none"},
	{"context", TextForm, OfTest, "the text for the model"},
	{"notice", TextForm, OfTest, "the text for the person"},
	{"failure", String, OfTest, "how the hook fails; without it every failure fails the test"},
}

// The verdicts that no hook says.
const (
	Pass     = "pass"      // the event takes effect: nothing refuses it
	NotAsked = "not-asked" // the hook is not for this event
)

// Verdicts are the words for what comes out.
var Verdicts = []string{
	string(protocol.Observe), string(protocol.Block), string(protocol.Ask), string(protocol.Allow), string(protocol.Modify),
	string(protocol.Stop), string(protocol.Continue), string(protocol.Callback), Pass, NotAsked,
}

// Failures are the kinds of failure that a test may expect.
var Failures = []string{
	string(protocol.FailSpawn), string(protocol.FailTimeout), string(protocol.FailBudget), string(protocol.FailExit), string(protocol.FailSignal),
	string(protocol.FailReply), string(protocol.FailOutput), string(protocol.FailDepth), string(protocol.FailLost),
}

func find(keys []Key, name string) *Key {
	if i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}

func namesOf(keys []Key) []string {
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return names
}

// Markdown returns a table of keys for the documentation.
func Markdown(keys []Key) string {
	var b strings.Builder
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	for _, k := range keys {
		b.WriteString("| `" + k.Name + "` | " + string(k.Type) + " | " + k.Meaning + " |\n")
	}
	return b.String()
}
