//go:build unix

package acpagent

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpterminal"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// TestMain makes the test's program the screen of commands, as hookd is.
func TestMain(m *testing.M) {
	if code, is := acpterminal.Run(os.Args[1:]); is {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// clientTerminal is what a client runs in its one terminal.
type clientTerminal struct {
	cmd    *exec.Cmd
	output bytes.Buffer // read it after exited
	exited chan struct{}
	asked  []string // methods, in order
}

// answer obeys requests of the agent about the terminal.
func (term *clientTerminal) answer(c *client, m *rpc.Message) (result any, failure *rpc.Error) {
	if strings.HasPrefix(m.Method, "terminal/") {
		term.asked = append(term.asked, m.Method)
	}
	switch m.Method {
	case acp.TerminalCreate:
		var params acp.CreateTerminalParams
		if err := json.Unmarshal(m.Params, &params); err != nil || params.Cwd != c.project {
			c.t.Errorf("%s: %v", m.Params, err)
		}
		term.cmd, term.exited = exec.Command(params.Command, params.Args...), make(chan struct{})
		term.cmd.Dir, term.cmd.Env = params.Cwd, append(os.Environ(), params.Env[0].Name+"="+params.Env[0].Value)
		term.cmd.Stdout, term.cmd.Stderr = &term.output, &term.output
		if err := term.cmd.Start(); err != nil {
			c.t.Error(err)
		}
		go func() {
			defer close(term.exited)
			_ = term.cmd.Wait()
		}()
		return acp.CreateTerminalResult{TerminalID: "t1"}, nil
	case acp.TerminalWaitForExit:
		go func() {
			<-term.exited
			_, _ = fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"result":{"exitCode":%d}}`+"\n", m.ID, term.cmd.ProcessState.ExitCode()) // unless the test is over
		}()
		return nil, nil
	case acp.TerminalRelease:
		return acp.Empty{}, nil
	}
	return nil, rpc.Errorf(rpc.MethodNotFound, "no %s here", m.Method)
}

// runsACommand has the model run a command, and returns what the client is told of the call.
func (c *client) runsACommand(capabilities object) (changes []acp.ToolCall) {
	c.t.Helper()
	c.initialize(capabilities)
	session := c.session()
	c.call(acp.SessionSetMode, object{"sessionId": session, "modeId": "run"}, nil)
	id := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})
	c.until(func(m *rpc.Message) bool {
		if kindOf(m) == acp.ToolCallChanged {
			var params struct {
				Update acp.ToolCall `json:"update"`
			}
			if err := json.Unmarshal(m.Params, &params); err != nil {
				c.t.Error(err)
			}
			changes = append(changes, params.Update)
		}
		return m.Method == "" && string(m.ID) == fmt.Sprint(id)
	})
	return changes
}

func hasTerminal(changed acp.ToolCall) bool {
	return slices.Contains(changed.Content, acp.ToolTerminal("t1"))
}

// A command is shown in a terminal of the client's, which stays in its call, and its result is what
// it is without one. Where a terminal was not offered, was not wanted, or could show what a hook
// withholds, none is asked for.
func TestCommandsInTerminalsOfTheClient(t *testing.T) {
	script := "turns:\n- toolCalls: [{name: bash, args: {command: 'echo here; exit 3'}}]\n- text: done"
	offered := object{"terminal": true}
	var plainly acp.ToolCall
	for _, test := range []struct {
		name         string
		capabilities object
		set          func(c *client)
		shown        bool
	}{
		{"not offered", object{"terminal": false}, func(*client) {}, false},
		{"not wanted", offered, func(c *client) { c.plain = true }, false},
		{"a hook may change the result", offered, func(c *client) { c.hook("tame.sh", "events=tool-call-end can=modify", "exit 0") }, false},
		{"a hook may change the error", offered, func(c *client) { c.hook("tame.sh", "events=tool-call-error can=modify", "exit 0") }, false},
		{"a hook watches", offered, func(c *client) { c.hook("watch.sh", "events=tool-call-end,tool-call-error can=observe", "exit 0") }, true},
		{"offered", offered, func(*client) {}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newClient(t, script)
			term := &clientTerminal{}
			c.answer = func(m *rpc.Message) (any, *rpc.Error) { return term.answer(c, m) }
			test.set(c)
			c.start()
			changes := c.runsACommand(test.capabilities)
			ended := changes[len(changes)-1]
			if plainly.RawOutput == nil {
				plainly = ended
			}
			if ended.Status != acp.ToolFailed || string(ended.RawOutput) != string(plainly.RawOutput) || !strings.Contains(string(ended.RawOutput), `"here\n"`) {
				t.Errorf("ended: %+v, without a terminal %+v", ended, plainly)
			}
			if !test.shown {
				if len(term.asked) > 0 || slices.ContainsFunc(changes, hasTerminal) {
					t.Errorf("%q, %+v", term.asked, changes)
				}
				return
			}
			if diff := cmp.Diff([]string{acp.TerminalCreate, acp.TerminalWaitForExit, acp.TerminalRelease}, term.asked); diff != "" {
				t.Fatal(diff)
			}
			if embedded := changes[len(changes)-2]; !hasTerminal(embedded) || embedded.Status != acp.ToolRuns || !hasTerminal(ended) {
				t.Errorf("%+v", changes)
			}
			<-term.exited
			if got := term.output.String(); got != "$ echo here; exit 3\nhere\n" || term.cmd.ProcessState.ExitCode() != 3 {
				t.Errorf("%q, exit code %d", got, term.cmd.ProcessState.ExitCode())
			}
		})
	}
}

// Of a client that refuses terminals the person is told once, and commands run.
func TestAClientThatRefusesTerminals(t *testing.T) {
	c := newClient(t, "turns:\n- toolCalls: [{name: bash, args: {command: 'echo >> ran'}}, {name: bash, args: {command: 'echo >> ran'}}]\n- text: done")
	asked := 0
	c.answer = func(m *rpc.Message) (any, *rpc.Error) {
		if m.Method == acp.TerminalCreate {
			asked++
			return nil, rpc.Errorf(rpc.InternalError, "not\x1b[2J today")
		}
		return nil, nil
	}
	c.start()
	c.runsACommand(object{"terminal": true, "session": object{"notices": object{}}})
	if ran, err := os.ReadFile(c.project + "/ran"); err != nil || string(ran) != "\n\n" {
		t.Errorf("%q %v", ran, err)
	}
	all := strings.Join(c.log, "\n")
	if n := strings.Count(all, "are not shown in terminals of the editor: the editor refuses to open one: not\\\\x1b[2J today"); n != 1 || asked < 1 || asked > 2 {
		t.Errorf("told %d times, asked %d times:\n%s", n, asked, all)
	}
}
