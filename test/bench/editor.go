//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// promptsOfSession is how many measured prompts a session of an editor has: what a prompt costs
// grows with what was said before.
const promptsOfSession = 20

// editor is a client of the Agent Client Protocol with an agent of its own.
type editor struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	root    string
	session string // that is open, "" before the first
	left    int    // prompts that it still takes
}

// startEditor starts an agent and says hello.
func (k *kit) startEditor(root string, env []string, program string, args ...string) (*editor, error) {
	e := &editor{command: exec.Command(program, args...), root: root}
	e.command.Dir, e.command.Env, e.command.Stderr = root, env, os.Stderr
	e.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for us
	var err error
	if e.in, err = e.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := e.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	e.out = bufio.NewReaderSize(out, 1<<16)
	if err := e.command.Start(); err != nil {
		return nil, err
	}
	k.atEnd(e.close)
	_, err = e.ask("initialize", map[string]any{"protocolVersion": 1}, nil)
	return e, err
}

func (e *editor) close() error {
	e.in.Close()
	_, drained := io.Copy(io.Discard, e.out)
	return errors.Join(drained, e.command.Wait())
}

// ask sends a request and returns its result. seen is told each line that comes before it, and
// the result's.
func (e *editor) ask(method string, params any, seen func(line []byte)) (json.RawMessage, error) {
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(e.in, `{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`+"\n", method, encoded); err != nil {
		return nil, err
	}
	for {
		line, err := e.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if seen != nil {
			seen(line)
		}
		if !bytes.HasPrefix(line, []byte(`{"jsonrpc":"2.0","id":7,`)) {
			continue
		}
		var answer struct {
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return nil, err
		}
		if answer.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, answer.Error)
		}
		return answer.Result, nil
	}
}

// prompts is a burst of prompts, each with its time until a line comes that holds a mark, or its
// result if none does.
func (e *editor) prompts(n int, mark string) (took []time.Duration, err error) {
	for range n {
		if e.left == 0 {
			if err := e.openAnew(); err != nil {
				return nil, err
			}
		}
		e.left--
		one, err := e.prompt(mark)
		if err != nil {
			return nil, err
		}
		took = append(took, one)
	}
	return took, nil
}

// openAnew opens a session in the place of the one before. Its first prompt, which the session
// begins with, is not measured.
func (e *editor) openAnew() error {
	if e.session != "" {
		if _, err := e.ask("session/close", map[string]any{"sessionId": e.session}, nil); err != nil {
			return err
		}
	}
	result, err := e.ask("session/new", map[string]any{"cwd": e.root, "mcpServers": []any{}}, nil)
	if err != nil {
		return err
	}
	var opened struct{ SessionID string }
	if err := json.Unmarshal(result, &opened); err != nil {
		return err
	}
	e.session, e.left = opened.SessionID, promptsOfSession
	_, err = e.prompt("")
	return err
}

func (e *editor) prompt(mark string) (until time.Duration, err error) {
	sent := time.Now()
	_, err = e.ask("session/prompt", map[string]any{"sessionId": e.session, "prompt": []any{map[string]string{"type": "text", "text": promptText}}}, func(line []byte) {
		if until == 0 && bytes.Contains(line, []byte(mark)) {
			until = time.Since(sent)
		}
	})
	if until == 0 {
		until = time.Since(sent)
	}
	return until, err
}

var promptText = strings.Repeat("x", usualSize)

// editing is a prompt of an editor to hookd's own loop, without a hook and with a resident one that
// wants the prompt and the tool calls. The model answers at once, from a script of such turns. The
// yardstick is the same client and an agent in C that answers at once. The targets are one percent of
// what a person waits for: a fast model takes 200 ms to its first word, and is called twice where
// there is a tool call.
func editing(mark string, turns ...string) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		server, err := k.compile(ctx, "rpcserver.c", "acpserver", slices.Concat(bareFlags, []string{"-DACP"})...)
		if err != nil {
			return nil, err
		}
		base, err := k.startEditor(k.folder, os.Environ(), server)
		if err != nil {
			return nil, err
		}
		r := &race{players: []player{base.player(direct, mark)}}
		for hooks, name := range []string{ours, oneHook} {
			e, err := k.editorOfLoop(ctx, hooks, turns...)
			if err != nil {
				return nil, err
			}
			r.players = append(r.players, e.player(name, mark))
			if _, err := e.memory(); err == nil {
				r.after = func() figure {
					resident, _ := e.memory() // it was there before
					return figure{"memory", bytesUnit, resident}
				}
			}
		}
		return r, nil
	}
}

// memory is the resident memory of the agent. Only Linux tells it.
func (e *editor) memory() (float64, error) { return memory(e.command.Process.Pid, "VmRSS:") }

func (e *editor) player(name, mark string) player {
	return player{name: name, burst: func(_ context.Context, n int) ([]time.Duration, error) {
		return e.prompts(n, mark)
	}}
}

// editorOfLoop starts hookd acp on a model that plays some turns again and again.
func (k *kit) editorOfLoop(ctx context.Context, hooks int, turns ...string) (*editor, error) {
	hook, err := k.hook(ctx, "c", answering)
	if err != nil {
		return nil, err
	}
	list := guards(hook, hooks, schema.Resident)
	for i := range list {
		list[i].Events = append(list[i].Events, string(protocol.PromptSubmit))
	}
	p, err := newProject(ctx, k.folder, list, nil)
	if err != nil {
		return nil, err
	}
	script := filepath.Join(p.folder, "model.yaml")
	text := "turns:\n" + strings.Repeat(strings.Join(turns, ""), promptsOfSession+1)
	if err := errors.Join(os.WriteFile(script, []byte(text), 0o600), os.WriteFile(filepath.Join(p.root, "a.txt"), bytes.Repeat([]byte("line\n"), 20), 0o600)); err != nil {
		return nil, err
	}
	hookd, err := k.hookd(ctx, "")
	if err != nil {
		return nil, err
	}
	return k.startEditor(p.root, p.environ(), hookd, "acp", "--model", "scripted:"+script)
}

// What a model says in a benchmark.
const (
	speaks = "- {text: done}\n"
	reads  = "- toolCalls: [{name: read_file, args: {path: a.txt}}]\n"
)
