package selfprotect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Name is the guard's name in outcomes and records.
const Name = "self-protection"

// Options say what is protected besides the hook settings of agents, and what is known
// of the host.
type Options struct {
	Home string   // of the user; "" if it is not known
	Own  []string // absolute paths of hookd's own files and folders: programs, state, sockets

	// Lookup returns the value of a variable that the host's tools have, "" if it has none.
	Lookup func(name string) string

	// Ask says that the host can put a question to the person.
	Ask bool

	// Runs reports whether a process is hookd's, for kill with a number.
	Runs func(pid int) bool
}

// Hook returns the guard: a hook that refuses calls of another agent's tools that would
// switch hookd off. It has an answer to each call; the caller decides for which events
// it is asked.
func Hook(o Options) protocol.GoHook {
	return protocol.GoHook{
		Name:        Name,
		Description: "refuses what would switch hookd off from inside another agent",
		Events:      []protocol.EventName{protocol.ToolCallStart, protocol.PermissionRequest},
		Can:         protocol.CanBlock,
		OnFailure:   protocol.RuleBlock,
		Func: func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			var c call
			if err := json.Unmarshal(ev.Data, &c); err != nil {
				return protocol.Reply{}, err
			}
			return o.reply(judgeCall(o, &c, ev.Project, ev.Cwd)), nil
		},
	}
}

// Judge returns why a call of a tool is refused, and what of it is undecided, each ""
// if there is nothing. Project and cwd are absolute paths.
func Judge(o Options, name string, kind protocol.ToolKind, args protocol.RawMessage, project, cwd string) (refused, undecided string) {
	f := judgeCall(o, &call{Name: name, Kind: kind, Args: args}, project, cwd)
	if f == nil {
		return "", ""
	}
	if f.sure {
		return f.text, ""
	}
	return "", f.text
}

// call is the part of an event's data that the guard reads.
type call struct {
	Name  string              `json:"name"`
	Kind  protocol.ToolKind   `json:"kind"`
	Args  protocol.RawMessage `json:"args"`
	MayBe []protocol.ToolKind `json:"mayBe"`
}

func judgeCall(o Options, c *call, project, cwd string) *finding {
	if cwd == "" {
		cwd = project
	}
	j := &judge{
		options: &o,
		scope:   &protect.Scope{Project: project, Cwd: cwd, Home: o.Home, Own: o.Own},
		dirs:    []string{plainPattern(filepath.ToSlash(cwd))},
	}
	j.call(c)
	return j.worst()
}

// finding is something that a call would do to hookd.
type finding struct {
	sure bool   // false: it may do it, and only shows when it runs
	text string // a sentence without its end
}

// judge looks at one call.
type judge struct {
	options *Options
	scope   *protect.Scope
	dirs    []string // where relative paths may begin, as patterns; the first is the working directory
	before  []string // the same, before an option of the command at hand changed them; nil if none did
	found   []finding

	spent spent

	lost    bool     // there were more folders than dirs holds
	dotglob bool     // * stands for names that begin with a dot, too
	depth   int      // of lines in lines
	copies  []string // names that a line gave to copies of hookd's program
}

// spent is what was looked at and worked out for the call, which has bounds.
type spent struct {
	seen   map[looked]*protect.Place // what was looked up; nil values, too
	lines  int                       // that were judged
	steps  int                       // of the expander
	walked map[string]bool           // see finds
}

// looked is a path and what is done with it.
type looked struct {
	path string
	use  use
}

// Bounds of one call. Beyond the first a path counts by its names, without looking at the
// disk; beyond the second texts in a line are not read as lines.
const (
	maxLooked = 2000
	maxLines  = 400
)

func (j *judge) refuse(format string, args ...any) {
	j.found = append(j.found, finding{true, fmt.Sprintf(format, args...)})
}

func (j *judge) doubt(format string, args ...any) {
	j.found = append(j.found, finding{false, fmt.Sprintf(format, args...)})
}

// inDoubt calls find, and makes what it finds doubts.
func (j *judge) inDoubt(find func()) {
	before := len(j.found)
	find()
	for i := before; i < len(j.found); i++ {
		j.found[i].sure = false
	}
}

// worst returns the first finding that is sure, else the first, nil if there is none.
func (j *judge) worst() *finding {
	if at := slices.IndexFunc(j.found, func(f finding) bool { return f.sure }); at >= 0 {
		return &j.found[at]
	}
	if len(j.found) > 0 {
		return &j.found[0]
	}
	return nil
}

// remedy tells the person what to do; a model that reads it cannot do that.
const remedy = "A person can do this, or set hooks.selfProtection to \"off\" in their own settings"

func (o *Options) reply(f *finding) protocol.Reply {
	switch {
	case f == nil:
		return protocol.Reply{}
	case f.sure:
		return protocol.Reply{Action: protocol.Block, Reason: f.text + ". " + remedy + "."}
	case o.Ask:
		return protocol.Reply{Action: protocol.Ask, Reason: f.text + ". It only shows when it runs."}
	}
	return protocol.Reply{Notice: f.text + "; it only shows when it runs, so it was not refused"}
}

// quoted returns a command or path for a message.
func quoted(command string) string {
	return "`" + text.Shorten(strings.ReplaceAll(command, unknown, "…"), 120) + "`"
}
