package acpview

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// call is a tool call at work.
type call struct {
	protocol.Call
	id    string            // for the client
	notes []string          // what hooks did to it
	diff  []acp.ToolContent // what it changes in files

	output string // the end of what the tool has printed so far
	told   time.Time

	terminal string // id of the client's terminal that shows the output, "" for none
}

// How much of a tool's output is shown while it works, and how often. The result has it whole.
const (
	liveOutput = 8 << 10
	liveEvery  = 250 * time.Millisecond
)

// idOf returns the id of a call for the client. Agents below the session's own may use the same
// ids.
func (v *View) idOf(agent protocol.Agent, id string) string {
	if agent.Depth <= v.root {
		return id
	}
	return agent.ID + "/" + id
}

// callOf returns the call at work of an agent, nil if there is none. Agents below the session's own
// come first: theirs alone have their names in the id.
func (v *View) callOf(agent, id string) *call {
	if c := v.calls[agent+"/"+id]; c != nil {
		return c
	}
	return v.calls[id]
}

func (v *View) callStart(y *agentloop.Update) []any {
	d, read := data[protocol.ToolCallStartData](y)
	if !read {
		return v.decision(y)
	}
	c := &call{Call: d.Call, id: v.idOf(y.Event.Agent, d.ToolCallID), notes: runview.DecisionLines(&y.Outcome)}
	if y.Outcome.Action == protocol.Ask || !y.Outcome.Refused() { // whom a hook has asked sees what it is about
		c.diff = v.diffOf(&c.Call)
	}
	v.calls[c.id] = c
	status := acp.ToolPending
	if y.Outcome.Action != protocol.Ask && (y.Outcome.Answered != nil || d.Kind == protocol.KindRead || d.Kind == protocol.KindAgent) {
		status = acp.ToolRuns
	}
	begun := c.describe()
	begun.UpdateKind, begun.Status, begun.Content = acp.ToolCallBegun, status, c.content("")
	return []any{begun}
}

// describe returns what a call is: its title, kind, files and args.
func (c *call) describe() *acp.ToolCall {
	return &acp.ToolCall{
		ToolCallID: c.id, Title: titleOf(&c.Call), Name: show.Line(c.Name), Kind: kindOf(&c.Call),
		Locations: locationsOf(&c.Call), RawInput: c.Args,
	}
}

// callDecision is what hooks and the person said to the question about a call.
func (v *View) callDecision(y *agentloop.Update) []any {
	d, read := data[protocol.PermissionRequestData](y)
	c := v.calls[v.idOf(y.Event.Agent, d.ToolCallID)]
	if !read || c == nil {
		return v.decision(y)
	}
	c.notes = append(c.notes, runview.DecisionLines(&y.Outcome)...)
	changed := &acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: c.id, Content: c.content("")}
	if !y.Outcome.Refused() {
		changed.Status = acp.ToolRuns
	}
	return []any{changed}
}

// output shows the end of what a tool has printed so far, not more often than a person reads.
func (v *View) output(o *agentloop.Output) []any {
	c := v.callOf(o.AgentID, o.ToolCallID)
	if c == nil || c.terminal != "" {
		return nil
	}
	if c.output += o.Text; len(c.output) > liveOutput {
		c.output = strings.ToValidUTF8(c.output[len(c.output)-liveOutput:], "")
	}
	now := v.options.Now()
	if now.Sub(c.told) < liveEvery {
		return nil
	}
	c.told = now
	return []any{&acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: c.id, Status: acp.ToolRuns, Content: c.content(fenced(c.output))}}
}

// Terminal returns the update that puts a terminal of the client into a call: it shows what the
// tool prints, from now on and after its end.
func (v *View) Terminal(agent, call, terminal string) []any {
	c := v.callOf(agent, call)
	if c == nil {
		return nil
	}
	c.terminal = terminal
	return []any{&acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: c.id, Status: acp.ToolRuns, Content: c.content("")}}
}

// over takes a call away that has ended, nil if the client does not know it.
func (v *View) over(y *agentloop.Update, id string) *call {
	c := v.calls[v.idOf(y.Event.Agent, id)]
	if c != nil {
		delete(v.calls, c.id)
		c.notes = append(c.notes, runview.DecisionLines(&y.Outcome)...)
	}
	return c
}

func (v *View) callEnd(y *agentloop.Update) []any {
	d, read := data[protocol.ToolCallEndData](y)
	c := v.over(y, d.ToolCallID)
	if c == nil {
		return v.decision(y)
	}
	ended := &acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: c.id, Status: acp.ToolCompleted}
	if !read || y.Outcome.Withholds() {
		c.diff, c.terminal = nil, ""
		ended.Status, ended.Content = acp.ToolFailed, c.content("the result was withheld")
		return []any{ended}
	}
	if d.Result.IsError {
		ended.Status, c.diff = acp.ToolFailed, nil
	}
	text := resultText(c.Kind, &d.Result)
	if len(c.diff) > 0 || c.terminal != "" && len(d.Result.Left) == 0 { // which says it
		text = ""
	}
	ended.Content = c.content(text)
	ended.RawOutput, _ = protocol.Marshal(&d.Result)
	updates := []any{ended}
	if plan := planOf(&d); plan != nil && v.isOwn(y) {
		updates = append(updates, plan)
	}
	return updates
}

func (v *View) callError(y *agentloop.Update) []any {
	d, read := data[protocol.ToolCallErrorData](y)
	c := v.over(y, d.ToolCallID)
	if c == nil {
		return v.decision(y)
	}
	c.diff = nil
	ended := &acp.ToolCall{UpdateKind: acp.ToolCallChanged, ToolCallID: c.id, Status: acp.ToolFailed}
	if read && d.BlockedBy == nil { // else the refusal is told already
		ended.Content = c.content(show.Visible(d.Error.Text))
	} else {
		ended.Content = c.content("not run")
	}
	if read {
		ended.RawOutput, _ = protocol.Marshal(&d.Error)
	}
	return []any{ended}
}

// content is what a client shows of a call: what hooks did to it, what it changes, and a text.
func (c *call) content(text string) (content []acp.ToolContent) {
	if len(c.notes) > 0 {
		content = append(content, acp.ToolText(strings.Join(c.notes, "\n")))
	}
	content = append(content, c.diff...)
	if c.terminal != "" {
		content = append(content, acp.ToolTerminal(c.terminal))
	}
	if text != "" {
		content = append(content, acp.ToolText(text))
	}
	return content
}

// resultText is what a tool found out.
func resultText(kind protocol.ToolKind, r *protocol.Result) string {
	text := strings.TrimRight(r.Content.Text(), "\n")
	if kind == protocol.KindShell || kind == protocol.KindRead {
		return fenced(text)
	}
	return show.Visible(text)
}

// fenced puts a text between fences that it does not hold.
func fenced(text string) string {
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + show.Visible(strings.TrimRight(text, "\n")) + "\n" + fence
}

// args are those of the loop's own tools, as far as they are shown.
type args struct {
	Command string  `json:"command"`
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText *string `json:"newText"`
	Content *string `json:"content"`
	Offset  int     `json:"offset"`
}

func argsOf(c *protocol.Call) (a args) {
	_ = json.Unmarshal(c.Args, &a) // other tools have others
	return a
}

func titleOf(c *protocol.Call) string {
	a := argsOf(c)
	switch {
	case c.Kind == protocol.KindShell && a.Command != "":
		return show.Line(show.Shorten(a.Command, 200))
	case c.Server == "" && a.Path != "":
		return show.Line(c.Name + " " + show.Shorten(a.Path, 200))
	}
	return show.Line(c.Name + " " + show.Shorten(report.ArgsLine(c.Args), 100))
}

func kindOf(c *protocol.Call) acp.ToolKind {
	switch c.Kind {
	case protocol.KindShell:
		return acp.KindExecute
	case protocol.KindWrite:
		return acp.KindEdit
	case protocol.KindNet:
		return acp.KindFetch
	case protocol.KindAgent:
		return acp.KindThink
	case protocol.KindRead:
		if c.Name == "grep" || c.Name == "list_dir" {
			return acp.KindSearch
		}
		return acp.KindRead
	}
	return acp.KindOther
}

func locationsOf(c *protocol.Call) (list []acp.Location) {
	paths := c.RealPaths
	if c.RealPath != "" {
		paths = append([]string{c.RealPath}, paths...)
	}
	for _, path := range paths {
		list = append(list, acp.Location{Path: path, Line: argsOf(c).Offset})
	}
	return list
}

// shownFile is the most of a file that is shown as a diff, in bytes.
const shownFile = 1 << 20

// diffOf returns what a call of the loop's own file tools changes.
func (v *View) diffOf(c *protocol.Call) []acp.ToolContent {
	a := argsOf(c)
	if c.Kind != protocol.KindWrite || c.Server != "" || c.RealPath == "" {
		return nil
	}
	switch {
	case a.OldText != nil && a.NewText != nil:
		return []acp.ToolContent{acp.ToolDiff(c.RealPath, a.OldText, *a.NewText)}
	case a.Content != nil:
		var old *string
		if v.options.ReadFile != nil {
			if text, known := v.options.ReadFile(c.RealPath); known && len(text) <= shownFile && utf8.ValidString(text) {
				old = &text
			}
		}
		return []acp.ToolContent{acp.ToolDiff(c.RealPath, old, *a.Content)}
	}
	return nil
}

// planOf returns the list of tasks that a call of todo_write has made, nil for another call.
func planOf(d *protocol.ToolCallEndData) *acp.Plan {
	if d.Name != planTool || d.Server != "" || d.Result.IsError || d.Synthetic {
		return nil
	}
	return planIn(d.Args)
}

const planTool = "todo_write"

func planIn(taskList protocol.RawMessage) *acp.Plan {
	var list struct {
		Items []struct {
			Text   string `json:"text"`
			Status string `json:"status"`
		} `json:"items"`
	}
	if json.Unmarshal(taskList, &list) != nil {
		return nil
	}
	plan := &acp.Plan{Kind: acp.PlanChanged, Entries: []acp.PlanEntry{}}
	for _, item := range list.Items {
		plan.Entries = append(plan.Entries, acp.PlanEntry{Content: show.Line(item.Text), Priority: "medium", Status: cmp.Or(item.Status, "pending")})
	}
	return plan
}
