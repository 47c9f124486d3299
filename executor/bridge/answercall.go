package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect"
)

// OwnShare is the part of an agent's limit within which hookd answers. Nearly every agent
// lets the tool run when its own limit ends the hook.
const OwnShare = 0.8

// ErrLate says that time was over before the hooks had answered.
var ErrLate = errors.New("hookd's hooks did not answer in time")

// Call is one call of an agent, as the program that it started sees it.
type Call struct {
	Agent *dialect.Agent
	Event string        // the agent's name of the event, "" if the input says it
	Limit time.Duration // what the agent's settings say, 0 for what the agent does without
	Until time.Time     // when the answer is due, zero for OwnShare of the limit from Began on
	Began time.Time
	Input []byte // what the agent wrote to stdin
	Cwd   string // working directory of the program
	Depth int    // how many hooks and tools stand above it

	Environ []string // of the program, as os.Environ returns it: it may name the project

	Marker string // token of hookd verify, "" for none: the record says that the call came
}

// Hooks are the hooks of the project that a call is made in.
type Hooks interface {
	Project() string // root, "" outside of any project
	// ImportedFrom returns the hooks that were read from an agent's settings: it runs them
	// itself.
	ImportedFrom(agent string) []protocol.HookRef
	Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error)
}

// Reply is what the program that an agent has started writes, and how it ends.
type Reply struct {
	Event  string // the agent's name of the event, "" if nothing says it
	Stdout []byte
	Stderr []byte // safe to show
	Exit   int
}

// Answer answers a call. open returns the hooks of the projects that several folders lie in,
// the first of which counts most; it is not called for what cannot be read.
func Answer(ctx context.Context, c Call, open func(ctx context.Context, folders []string) (Hooks, error)) Reply {
	call, err := c.Agent.Read(c.Event, c.Input, protocol.DecodeLimits{Size: protocol.DefaultEventSize, Depth: protocol.DefaultDepth})
	if err != nil {
		return c.Refuse(err)
	}
	c.Event = call.Row.Name
	ctx, cancel := context.WithDeadlineCause(ctx, c.due(call.Row), ErrLate)
	defer cancel()
	outcome, err := c.fire(ctx, call, open)
	if err != nil {
		return c.Refuse(err)
	}
	return c.reply(call.Answer(&outcome))
}

// Refuse answers a call that could not be read or decided.
func (c *Call) Refuse(err error) Reply { return c.reply(c.Agent.Refuse(c.Event, err)) }

// Due returns when the answer is due, before the input was read: by the event that the
// command line names, or else by the agent's shortest limit.
func (c *Call) Due() time.Time {
	if row := c.Agent.Row(c.Event); row != nil {
		return c.due(row)
	}
	shortest := slices.MinFunc(c.Agent.Rows, func(a, b dialect.Row) int { return cmp.Compare(a.Limit, b.Limit) })
	return c.due(&shortest)
}

func (c *Call) due(row *dialect.Row) time.Time {
	if !c.Until.IsZero() {
		return c.Until
	}
	limit := row.Limit
	if c.Limit > 0 {
		limit = c.Limit
	}
	return c.Began.Add(time.Duration(float64(limit) * OwnShare))
}

// fire completes the event of a call and has the hooks decide it.
func (c *Call) fire(ctx context.Context, call *dialect.Call, open func(context.Context, []string) (Hooks, error)) (protocol.Outcome, error) {
	hooks, err := open(ctx, c.folders(call))
	if err != nil {
		return protocol.Outcome{}, causeOr(ctx, err)
	}
	event := call.Event
	event.Protocol, event.ID, event.Time = protocol.Version, protocol.NewID(), time.Now().UTC()
	event.NotAsked = hooks.ImportedFrom(c.Agent.Name)
	event.Marker = c.Marker
	event.Project, event.Agent.Depth = hooks.Project(), event.Agent.Depth+c.Depth
	if event.Cwd == "" { // the agent does not say it
		event.Cwd = c.Cwd
	}
	event.Data = protocol.Complete(event.Spec(), event.Data)
	if err := protocol.CheckEvent(&event); err != nil {
		return protocol.Outcome{}, err
	}
	call.Event = event
	outcome, err := hooks.Fire(ctx, event)
	if err != nil {
		return protocol.Outcome{}, causeOr(ctx, err)
	}
	return outcome, nil
}

// folders are where the projects are that a call is made in: the working directory of the
// program, and what the agent says. Neither is enough. Cursor starts the hooks of its user in
// a folder of its own, and a model that has changed the working directory does not get rid of
// the hooks of the project that its session is about.
func (c *Call) folders(call *dialect.Call) []string {
	named := append([]string{c.Cwd}, call.Folders...)
	for _, name := range c.Agent.FolderVariables {
		for _, variable := range c.Environ {
			if value, is := strings.CutPrefix(variable, name+"="); is {
				named = append(named, value)
			}
		}
	}
	named = append(named, call.Event.Cwd)
	var folders []string
	for _, folder := range named {
		if filepath.IsAbs(folder) && !slices.Contains(folders, filepath.Clean(folder)) && len(folders) < mostFolders {
			folders = append(folders, filepath.Clean(folder))
		}
	}
	return folders
}

// mostFolders bounds how many folders are looked at.
const mostFolders = 32

// causeOr returns why a context has ended, or else the error.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// reply writes out what is lost before what the agent reads.
func (c *Call) reply(a dialect.Answer) Reply {
	var notes strings.Builder
	for _, lost := range a.Lost {
		fmt.Fprintf(&notes, "hookd: note: %s\n", text.Line(lost))
	}
	if a.Stderr != "" {
		notes.WriteString(text.Visible(a.Stderr) + "\n")
	}
	return Reply{Event: c.Event, Stdout: a.Stdout, Stderr: []byte(notes.String()), Exit: a.Exit}
}
