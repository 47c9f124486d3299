package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/client"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// Gate decides events. A *client.Session is one, and an *executor.Executor too.
type Gate interface {
	Fire(ctx context.Context, event protocol.Event) (protocol.Outcome, error)
}

// runTool runs one tool call of an agent, if the hooks let it. What it returns
// is for the model to read.
func runTool(ctx context.Context, gate Gate, call protocol.Call, run func(protocol.Call) string) (string, error) {
	data, err := protocol.Marshal(protocol.ToolCallStartData{Call: call, Parallel: 1})
	if err != nil {
		return "", err
	}
	outcome, err := gate.Fire(ctx, protocol.Event{
		Event: protocol.ToolCallStart,
		Agent: protocol.Agent{ID: "main", Host: "my-agent"},
		Data:  data,
	})
	if err != nil {
		return "", err // ctx has ended, and the call is not run
	}
	for _, notice := range outcome.Notices {
		fmt.Fprintf(os.Stderr, "%s: %s\n", notice.Hook, notice.Text)
	}
	if outcome.Refused() {
		return "refused: " + outcome.Reason, nil
	}
	// A hook may have changed the call: the outcome's event counts, not ours.
	var allowed protocol.ToolCallStartData
	if err := json.Unmarshal(outcome.Event.Data, &allowed); err != nil {
		return "", err
	}
	result := run(allowed.Call)
	for _, context := range outcome.Context {
		result += "\n" + context.Text
	}
	return result, nil
}

// withDaemon runs tool calls through a hookd that is started for it.
func withDaemon(ctx context.Context, project string, command []string, calls func(Gate)) error {
	c, err := client.Start(ctx, client.Options{Name: "my-agent"}, command...) // none: hookd serve
	if err != nil {
		return err
	}
	session, err := c.Open(ctx, client.SessionOptions{Project: project})
	if err == nil {
		calls(session)
	}
	return errors.Join(err, c.Close()) // waits for observers; leaves no process behind
}

// withPackages runs tool calls through the hook files of a project, in this
// process.
func withPackages(ctx context.Context, options loader.Options, calls func(Gate)) error {
	runtime, err := process.New(process.Options{LongLived: true})
	if err != nil {
		return err
	}
	defer runtime.Close()
	options.Runtime = runtime
	watcher, err := loader.Watch(ctx, options) // follows changes of the files
	if err != nil {
		return err
	}
	defer watcher.Close()
	hooks := executor.New(watcher, executor.Options{StateDir: options.StateDir, Depth: hookenv.ProcessDepth()})
	calls(hooks)
	return hooks.Close(context.WithoutCancel(ctx)) // waits for observers
}

// withGoHooks runs tool calls through hooks that are Go functions, without any
// files or processes.
func withGoHooks(ctx context.Context, calls func(Gate)) error {
	hooks, err := executor.Static(executor.GoHook{
		Name:   "no-rm",
		Events: []protocol.EventName{protocol.ToolCallStart},
		Can:    protocol.CanBlock, // a guard: if it fails, the call is refused
		Func: func(_ context.Context, event *protocol.Event) (protocol.Reply, error) {
			var call protocol.ToolCallStartData
			if err := json.Unmarshal(event.Data, &call); err != nil {
				return protocol.Reply{}, err
			}
			if string(call.Args) == `{"command":"rm -rf /"}` {
				return protocol.Reply{Action: protocol.Block, Reason: "not in this house"}, nil
			}
			return protocol.Reply{}, nil
		},
	})
	if err != nil {
		return err
	}
	calls(hooks)
	return hooks.Close(context.WithoutCancel(ctx))
}

func Example() {
	ctx := context.Background()
	command := daemonOfExample() // in an agent: nil, which is hookd serve
	err := withDaemon(ctx, "/some/project", command, tryCalls(ctx))
	fmt.Println(err)
	// Output:
	// ran {"command":"ls"}
	// refused: not in this house
	// <nil>
}

func Example_goHooks() {
	ctx := context.Background()
	err := withGoHooks(ctx, tryCalls(ctx))
	fmt.Println(err)
	// Output:
	// ran {"command":"ls"}
	// refused: not in this house
	// <nil>
}

func Example_packages() {
	options, clean, err := exampleProject()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer clean()
	ctx := context.Background()
	err = withPackages(ctx, options, tryCalls(ctx))
	fmt.Println(err)
	// Output:
	// ran {"command":"ls"}
	// refused: not in this house
	// <nil>
}

// tryCalls runs two tool calls through a gate and prints what came of them.
func tryCalls(ctx context.Context) func(Gate) {
	return func(gate Gate) {
		for i, command := range []string{"ls", "rm -rf /"} {
			args, _ := json.Marshal(map[string]string{"command": command})
			call := protocol.Call{ToolCallID: fmt.Sprint("c", i), Name: "bash", Kind: protocol.KindShell, Args: protocol.RawMessage(args)}
			result, err := runTool(ctx, gate, call, func(c protocol.Call) string { return "ran " + string(c.Args) })
			if err != nil {
				result = "error: " + err.Error()
			}
			fmt.Println(result)
		}
	}
}

// exampleProject makes a project with one hook, and a home whose settings say
// that the project's hooks need not be asked about.
func exampleProject() (options loader.Options, clean func(), err error) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return options, nil, err
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return options, nil, err
	}
	options = loader.Options{
		Project: filepath.Join(dir, "project"), Cwd: filepath.Join(dir, "project"),
		Home: filepath.Join(dir, "home"), StateDir: filepath.Join(dir, "state"),
	}
	hook := `#!/bin/sh
# hook: events=tool-call-start match.tool=bash can=block timeout=20s
case "$(cat)" in *'rm -rf /'*) echo '{"action":"block","reason":"not in this house"}' ;; esac
`
	always, err := json.Marshal(map[string]any{"hooks": map[string]any{"trust": map[string]any{"always": []string{dir}}}})
	for _, file := range []struct {
		path, text string
		mode       os.FileMode
	}{
		{filepath.Join(options.Project, ".acai", "hooks", "guard.sh"), hook, 0o755},
		{filepath.Join(options.Home, ".acai", "acai.json"), string(always), 0o600},
	} {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file.path), 0o700), os.WriteFile(file.path, []byte(file.text), file.mode))
	}
	return options, func() { os.RemoveAll(dir) }, errors.Join(err, os.MkdirAll(options.StateDir, 0o700))
}
