package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/realpath"
	"github.com/hookd-dev/hookd/schema/toolname"
)

func newFire(a *app) *cobra.Command {
	var data, session string
	var explain bool
	c := &cobra.Command{
		Use:   "fire EVENT",
		Short: "run the hooks for one event: exit code 0 passed, 2 refused",
		Long: `Run the hooks for one event and print what they decided.

--data is the event's data: JSON, @FILE, or - for stdin. Members that must be
there and are not get their zero value. Without --data a sample is fired.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeEvents,
		RunE: func(c *cobra.Command, args []string) error {
			name, err := eventName(args[0])
			if err != nil {
				return err
			}
			if c.Flags().Changed("session") {
				if err := protocol.CheckSessionID(session); err != nil {
					return usage("bad-session", "--session: "+err.Error(), "hookd run and hookd serve take the same")
				}
			}
			raw, err := a.eventData(name, data, c.Flags().Changed("data"), nil)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("data") && !a.json {
				a.err.Print("%s\n", a.err.In(show.Quiet, "no --data, so a sample is fired: "+show.Line(show.Shorten(show.Compact(raw), 120))))
			}
			return a.fire(c.Context(), name, raw, session, explain)
		},
	}
	c.Flags().StringVar(&data, "data", "", "the event's data: `JSON`, @FILE, or - for stdin")
	nameFlag(c, &session, "session", "", "session `ID`, for hooks' state and metadata")
	c.Flags().BoolVar(&explain, "explain", false, "show every hook, and why those that did not run did not")
	_ = c.RegisterFlagCompletionFunc("data", cobra.NoFileCompletions)
	a.jsonFlag(c)
	return c
}

func (a *app) fire(ctx context.Context, name protocol.EventName, data protocol.RawMessage, session string, explain bool) error {
	var held *heldNotes
	if a.json {
		held = a.hold()
		defer a.spill(held)
		if explain { // the runs of those that nobody waited for are explained, too
			a.late = held.late
		}
	}
	engine, err := a.open(ctx, openOptions{explain: explain})
	if err != nil {
		return err
	}
	event, err := a.event(name, data, session, engine.project())
	if err != nil {
		return err
	}
	outcome, err := engine.fire(ctx, event)
	if err != nil {
		return err
	}
	if held != nil {
		outcome.Notices = append(held.take(), outcome.Notices...)
		a.noted = nil
	}
	hooks := engine.source.Current().For(name)
	if explain && a.json {
		a.awaitObservers(ctx, engine)
		outcome.Runs = append(outcome.Runs, engine.late.runs()...)
		outcome.Notices = append(outcome.Notices, held.take()...)
	}
	engine.progress.Aside(func() {
		err = a.printOutcome(&outcome)
		if !a.json && !explain && len(outcome.Runs) == 0 {
			showNotAsked(a.out, hooks)
		}
	})
	if err != nil {
		return err
	}
	if explain && !a.json {
		a.awaitObservers(ctx, engine)
		showRuns(a.out, append(outcome.Runs, engine.late.runs()...), hooks)
	}
	if outcome.Refused() {
		return exitCode(exitRefused)
	}
	return nil
}

// awaitObservers waits for those who answer when the outcome stands: observers, and
// hooks in audit mode. All that is explained is so what became of them.
func (a *app) awaitObservers(ctx context.Context, engine *engine) {
	if err := engine.close(ctx); err != nil {
		a.note(oneLine(err.Error()), "")
	}
}

// printOutcome prints an outcome as soon as it stands; observers may still be at
// work then.
func (a *app) printOutcome(outcome *protocol.Outcome) error {
	shown := outcome.Shown()
	if a.json {
		return a.printJSON(&shown)
	}
	showOutcome(a.out, &shown)
	return nil
}

// event is an event as a person fires it by hand.
func (a *app) event(name protocol.EventName, data protocol.RawMessage, session, project string) (protocol.Event, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return protocol.Event{}, noDirectory()
	}
	event := protocol.Event{
		Protocol: protocol.Version, Event: name, ID: protocol.NewID(), Time: time.Now().UTC(),
		Session: protocol.Session{ID: session}, Agent: protocol.Agent{ID: "main", Depth: hookenv.ProcessDepth(), Host: "hookd"},
		Project: project, Cwd: cwd, Data: data,
	}
	withTouched(&event)
	if err := protocol.CheckEvent(&event); err != nil {
		return event, usage("bad-event", err.Error(), "hookd schema event prints what an event looks like")
	}
	return event, nil
}

// withTouched has an event about one of the agent's file tools say what the call
// touches, as the agent does, also after a hook changed args.
func withTouched(event *protocol.Event) {
	name := protocol.Text(protocol.Member(event.Data, "name"))
	kind, known := toolname.Kind(name)
	if spec := event.Spec(); spec == nil || !spec.Tool || !known || kind != protocol.KindRead && kind != protocol.KindWrite {
		return
	}
	event.Touches = func(args protocol.RawMessage) protocol.Touched {
		path := protocol.Text(protocol.Member(args, "path"))
		switch {
		case path == "" && (name == "list_dir" || name == "grep"):
			path = "."
		case path == "":
			return protocol.Touched{}
		}
		return realpath.Touched(cmp.Or(event.Project, event.Cwd), path)
	}
	if protocol.Member(event.Data, "realPath") == nil {
		event.Data = protocol.WithTouched(event.Data, event.Touches(protocol.Member(event.Data, "args")))
	}
}

// eventData reads --data, or takes a sample where there is none.
func (a *app) eventData(name protocol.EventName, given string, isGiven bool, tools []string) (protocol.RawMessage, error) {
	if !isGiven {
		return sampleData(name, tools), nil
	}
	text, err := a.readData(given)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !jsontext.Value(text).IsValid(jsontext.AllowInvalidUTF8(true)) {
		return nil, usage("bad-data", "--data is not one JSON value: "+whyNotJSON(text), `for example --data '{"prompt":"hello"}', @FILE or -`)
	}
	spec := protocol.Lookup(name)
	return readAsEvent(name, protocol.Complete(spec, withKind(spec, text)))
}

// readAsEvent reads data as any host's event is read: strictly, with half
// surrogate pairs mended.
func readAsEvent(name protocol.EventName, data protocol.RawMessage) (protocol.RawMessage, error) {
	line := slices.Concat([]byte(`{"event":"`+name+`","data":`), data, []byte("}"))
	event, err := protocol.DecodeEvent(line, protocol.DecodeLimits{})
	if err != nil {
		return nil, usage("bad-data", err.Error(), "hookd schema event prints what an event looks like")
	}
	return event.Data, nil
}

// withKind adds a tool call's kind where a person left it out and the tool is a
// known one.
func withKind(spec *protocol.Spec, data protocol.RawMessage) protocol.RawMessage {
	if kind := protocol.Member(data, "kind"); !spec.Tool || kind != nil && jsonspan.Kind(kind) != 'n' {
		return data
	}
	toolName, err := jsontext.AppendUnquote(nil, protocol.Member(data, "name"))
	if err != nil {
		return data
	}
	kind, known := toolname.Kind(string(toolName))
	rest, isObject := bytes.CutPrefix(data, []byte("{"))
	if !known || !isObject {
		return data
	}
	return fmt.Appendf(nil, `{"kind":%q,%s`, kind, rest)
}

func (a *app) readData(given string) ([]byte, error) {
	switch {
	case given == "-":
		a.watchSignals() // it may take as long as a person types
		text, err := io.ReadAll(a.stdin)
		if err != nil {
			return nil, failed("read", fmt.Errorf("read stdin: %w", err), "")
		}
		return text, nil
	case strings.HasPrefix(given, "@"):
		text, err := os.ReadFile(given[1:])
		if err != nil {
			return nil, usage("read", err.Error(), "")
		}
		return text, nil
	}
	return []byte(given), nil
}

// whyNotJSON says where JSON ends to be JSON.
func whyNotJSON(text []byte) string {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadValue(); err != nil {
		return strings.TrimPrefix(err.Error(), "jsontext: ")
	}
	return fmt.Sprintf("more text after byte %d", dec.InputOffset())
}
