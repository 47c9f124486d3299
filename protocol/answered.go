package protocol

import (
	"strings"
)

// Answered says who answered a question, and what: an ask of a hook that a person
// decides, the loop's own question, or a permission-request.
type Answered struct {
	By     Answerer `json:"by" jsonschema:"who answered"`
	Name   string   `json:"name,omitzero" jsonschema:"of the hook, the setting or the flag that answered"`
	Option string   `json:"option,omitzero" jsonschema:"kind of the option that was chosen: allow-once allow-always reject-once reject-always"`
	Text   string   `json:"text,omitzero" jsonschema:"the person's words"`
}

// Answerer is who answered a question.
type Answerer string

const (
	ByPerson  Answerer = "person"
	ByAlways  Answerer = "always"  // what the person answered with always before
	BySetting Answerer = "setting" // agent.approval.mode, agent.approval.tools, agent.tools.bash.allow
	ByFlag    Answerer = "flag"    // --allow
	ByHook    Answerer = "hook"    // at permission-request
	ByTimeout Answerer = "timeout" // nobody answered in time: no
	ByNobody  Answerer = "nobody"  // nobody is there: no
	ByFault   Answerer = "fault"   // the person could not be asked: no
)

// Answerers are all of them, with what each means.
var Answerers = []struct {
	By      Answerer
	Meaning string
}{
	{ByPerson, "the person, with `option` and in a refusal `text`"},
	{ByAlways, "what the person answered with *always* before in this session"},
	{BySetting, "the setting that `name` says"},
	{ByFlag, "`--allow`"},
	{ByHook, "the hook that `name` says, at permission-request"},
	{ByTimeout, "nobody answered within `agent.approval.timeout`, so no"},
	{ByNobody, "nobody is there, so no"},
	{ByFault, "the person could not be asked, so no"},
}

// AnsweredMarkdown is the table of who may have answered a question.
func AnsweredMarkdown() string {
	var out strings.Builder
	out.WriteString("| `answered.by` | who that is |\n|---|---|\n")
	for _, a := range Answerers {
		out.WriteString("| `" + string(a.By) + "` | " + a.Meaning + " |\n")
	}
	return out.String()
}
