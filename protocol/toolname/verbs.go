package toolname

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Verbs says of tools that do what several of hookd's do which one a call means: a member
// of its args holds a word for it.
type Verbs struct {
	Tools, Of string // their names, and the agents that have them
	Member    string
	Means     []Verb // of several words for one of ours, the first is what ours becomes there
}

// Verb is a word, and hookd's tool that a call with it is.
type Verb struct{ Word, Ours string }

// VerbTools lists the tools that are several of hookd's. A call whose args hold none of
// the words keeps its name, and counts as all of them; one without the member is what the
// table of tools says.
var VerbTools = []Verbs{
	{"file_editor str_replace_editor", "openhands copilot", "command", []Verb{
		{"view", "read_file"}, {"create", "write_file"}, {"str_replace", "edit_file"}, {"insert", "edit_file"}, {"undo_edit", "edit_file"},
	}},
	{"text_editor developer__text_editor", "goose", "command", []Verb{
		{"view", "read_file"}, {"write", "write_file"}, {"str_replace", "edit_file"}, {"insert", "edit_file"}, {"undo_edit", "edit_file"},
	}},
	{"fs_write write", "kiro", "command", []Verb{
		{"create", "write_file"}, {"str_replace", "edit_file"}, {"insert", "edit_file"}, {"append", "edit_file"},
	}},
}

// verbsOf returns the verbs of an agent's tool, nil if it has none.
func verbsOf(agent, name string) *Verbs {
	for i := range VerbTools {
		v := &VerbTools[i]
		if slices.Contains(strings.Fields(v.Tools), name) && slices.Contains(strings.Fields(v.Of), agent) {
			return v
		}
	}
	return nil
}

// ours returns which of hookd's tools a call with these args is. said is false where they
// have no such member, and the name is "" where its word is not known.
func (v *Verbs) ours(args protocol.RawMessage) (name string, said bool) {
	word := jsonspan.Get(args, v.Member)
	if word == nil {
		return "", false
	}
	if i := slices.IndexFunc(v.Means, func(m Verb) bool { return m.Word == jsonspan.Text(word) }); i >= 0 && jsonspan.Kind(word) == '"' {
		return v.Means[i].Ours, true
	}
	return "", true
}

// word is the word for one of hookd's tools, "" if there is none.
func (v *Verbs) word(ours string) string {
	if i := slices.IndexFunc(v.Means, func(m Verb) bool { return m.Ours == ours }); i >= 0 {
		return v.Means[i].Word
	}
	return ""
}

// means are hookd's tools of which a name of the table is one or several. It is empty
// where no two agents have the same.
func (t *knownTool) means() []string {
	var names []string
	if t.Ours != "" {
		names = append(names, t.Ours)
	}
	for _, v := range VerbTools {
		if slices.Contains(strings.Fields(v.Tools), t.Name) {
			for _, m := range v.Means {
				if !slices.Contains(names, m.Ours) {
					names = append(names, m.Ours)
				}
			}
		}
	}
	return names
}

// kindsOf are the kinds that a tool may be of: the one that its event tells, else those
// of the table. It is empty for a tool that nobody knows.
func kindsOf(name string, kind protocol.ToolKind) []protocol.ToolKind {
	if kind != "" && kind != protocol.KindOther {
		return []protocol.ToolKind{kind}
	}
	if known := knownTools()[name]; known != nil {
		return known.kinds
	}
	if isMCPName(name) {
		return []protocol.ToolKind{protocol.KindMCP}
	}
	return nil
}

// MayBe reports whether a tool may be of a kind. told is the kind that its event tells. A
// tool that nobody knows is of none here.
func MayBe(name string, told, kind protocol.ToolKind) bool {
	return slices.Contains(kindsOf(name, told), kind)
}

// common reports whether two lists have a value in common.
func common[T comparable](a, b []T) bool {
	return slices.ContainsFunc(a, func(v T) bool { return slices.Contains(b, v) })
}
