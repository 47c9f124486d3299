//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// project is a project with hooks that were allowed, and with a home and a state
// folder of its own.
type project struct {
	folder, home, state, root string
}

// use is a hook of a project: a program, and its entry in the settings.
type use struct {
	program string         // copied into the hooks folder
	Name    string         `json:"name"`
	Events  []string       `json:"events,omitempty"`
	Match   map[string]any `json:"match,omitempty"`
	Files   []string       `json:"files,omitempty"`
	Can     string         `json:"can,omitempty"`
	Run     schema.RunMode `json:"run,omitempty"`
}

// guards are n hooks of the same program that may block a tool call.
func guards(program string, n int, run schema.RunMode) []use {
	var list []use
	for i := range n {
		list = append(list, use{program: program, Name: fmt.Sprintf("%d-hook", i), Events: []string{string(protocol.ToolCallStart)}, Can: "block", Run: run})
	}
	return list
}

// newProject makes a project below a folder and allows its hooks. Settings are
// those of hooks in the project's own file; nil leaves all defaults.
func newProject(ctx context.Context, top string, hooks []use, settings map[string]any) (*project, error) {
	folder, err := os.MkdirTemp(top, "project-")
	if err != nil {
		return nil, err
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return nil, err
	}
	p := projectIn(folder)
	for _, dir := range []string{p.home, p.state, p.hooks()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	for _, h := range hooks {
		if err := copyFile(filepath.Join(p.hooks(), h.Name), h.program, 0o755); err != nil {
			return nil, err
		}
	}
	all := map[string]any{"maxHooks": 10000}
	if len(hooks) > 0 {
		all["use"] = hooks
	}
	for key, value := range settings {
		all[key] = value
	}
	if err := p.settings(all); err != nil {
		return nil, err
	}
	return p, p.allow(ctx)
}

func projectIn(folder string) *project {
	return &project{folder: folder, home: filepath.Join(folder, "home"), state: filepath.Join(folder, "state"), root: filepath.Join(folder, "root")}
}

func (p *project) hooks() string { return filepath.Join(p.root, ".acai", "hooks") }

// settings writes the project's settings of hooks.
func (p *project) settings(hooks map[string]any) error {
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.root, ".acai", "acai.json"), text, 0o600)
}

func (p *project) options(rt *process.Runtime) loader.Options {
	return loader.Options{Project: p.root, Cwd: p.root, Home: p.home, StateDir: filepath.Join(p.state, "hookd"), Runtime: rt}
}

func (p *project) allow(ctx context.Context) error {
	trust, err := loader.OpenTrust(p.options(nil))
	if err != nil {
		return err
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		return err
	}
	return trust.Allow(plan)
}

// environ is the environment of a hookd that works in the project.
func (p *project) environ() []string {
	env := []string{"HOME=" + p.home, "XDG_STATE_HOME=" + p.state, "XDG_RUNTIME_DIR=" + p.folder}
	for _, v := range os.Environ() {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", hookenv.VarDepth:
		default:
			env = append(env, v)
		}
	}
	return env
}

// engine decides events of a project inside this process, as the program does.
type engine struct {
	executor *executor.Executor
	watcher  *loader.Watcher
	project  *project
}

func (p *project) open(ctx context.Context, rt *process.Runtime, pool *exechook.Pool) (*engine, error) {
	options := p.options(rt)
	options.Pool = pool
	watcher, err := loader.Watch(context.WithoutCancel(ctx), options)
	if err != nil {
		return nil, err
	}
	for _, h := range watcher.Current().Hooks {
		if h.Status != executor.Ready {
			watcher.Close()
			return nil, fmt.Errorf("hook %s is not ready: %s", h.Name, h.Why)
		}
	}
	e := executor.New(watcher, executor.Options{StateDir: p.options(nil).StateDir})
	return &engine{executor: e, watcher: watcher, project: p}, nil
}

func (e *engine) close() error {
	err := e.executor.Close(context.Background())
	e.watcher.Close()
	return err
}

// fire decides one event and fails unless every hook that was asked answered.
func (e *engine) fire(ctx context.Context, event protocol.Event, hooks int) error {
	outcome, err := e.executor.Fire(ctx, event)
	if err != nil {
		return err
	}
	return checkOutcome(&outcome, hooks)
}

// checkOutcome fails unless the hooks answered and let the event pass: a
// measurement of failures would be none.
func checkOutcome(outcome *protocol.Outcome, hooks int) error {
	if outcome.Action != protocol.Observe || len(outcome.Runs) != hooks {
		return fmt.Errorf("%d runs and the outcome %s (%s), not %d runs and observe", len(outcome.Runs), outcome.Action, outcome.Reason, hooks)
	}
	for _, run := range outcome.Runs {
		if run.Failure != "" || run.Skipped != "" {
			return fmt.Errorf("hook %s: failure %q, skipped %q: %s", run.Hook, run.Failure, run.Skipped, run.Detail)
		}
	}
	return nil
}

// event is a tool call that hooks read as exactly size bytes, newline included,
// as long as it is about that large.
func (p *project) event(size int) protocol.Event {
	make := func(filler int) protocol.Event {
		return protocol.Event{
			Protocol: protocol.Version, Event: protocol.ToolCallStart, Time: time.Now().UTC().Truncate(time.Millisecond),
			Session: protocol.Session{ID: "bench"}, Agent: protocol.Agent{ID: "main", Host: "bench"}, Project: p.root, Cwd: p.root,
			Data: []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls ` + strings.Repeat("x", filler) + `"},"parallel":1}`),
		}
	}
	return make(max(0, size-len(payloadOf(make(0)))))
}

// payloadOf is the event as a hook reads it.
func payloadOf(event protocol.Event) []byte {
	event.ID, event.Layer = "01J00000000000000000000000", protocol.Project
	payload, err := protocol.AppendEvent(nil, &event)
	if err != nil {
		panic(err) // our own event
	}
	return payload
}

func copyFile(to, from string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
