//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/internal/program/hashed"
)

// messenger is the player that is hookd-bridge.
const messenger = "messenger"

// bridge is what another agent starts for an event, in a project with so many hooks that
// want it, compared with an empty program in Go: the messenger with a daemon at work.
func bridge(hooks int) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		return bridgeRace(ctx, k, hooks, func(p *project, hookd string) ([]string, error) {
			if err := k.startDaemon(ctx, p, hookd); err != nil {
				return nil, err
			}
			return []string{messenger}, nil
		})
	}
}

// bridgeAlone is the same without a daemon: hookd bridge itself, and the messenger that
// becomes it.
func bridgeAlone(ctx context.Context, k *kit) (*race, error) {
	return bridgeRace(ctx, k, 0, func(*project, string) ([]string, error) { return []string{"lean", ours, messenger}, nil })
}

// bridgeRace races ways to answer an event of Claude Code. prepare names them.
func bridgeRace(ctx context.Context, k *kit, hooks int, prepare func(p *project, hookd string) ([]string, error)) (*race, error) {
	var list []use
	if hooks > 0 {
		hook, err := k.hook(ctx, "c", silent)
		if err != nil {
			return nil, err
		}
		list = guards(hook, hooks, "")
	}
	p, err := newProject(ctx, k.folder, list, nil)
	if err != nil {
		return nil, err
	}
	hookd, err := k.hookd(ctx, "")
	if err != nil {
		return nil, err
	}
	bridge, err := k.goProgram(ctx, "hookd-bridge", "github.com/hookd-dev/hookd/cmd/hookd-bridge")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(p.options(nil).StateDir, 0o700); err != nil {
		return nil, err
	}
	if _, err := hashed.Write(p.options(nil).StateDir, hookd); err != nil {
		return nil, err
	}
	names, err := prepare(p, hookd)
	if err != nil {
		return nil, err
	}
	spawner, err := k.startSpawner(ctx, p.root, p.environ())
	if err != nil {
		return nil, err
	}
	k.atEnd(spawner.close)
	c := &race{}
	add := func(name, program string, args ...string) error {
		player, err := spawnsWith(spawner, k.folder, name, work{program: program, args: args, payload: hostPayload(p)})
		c.players = append(c.players, player)
		return err
	}
	empty, err := k.empty(ctx)
	if err != nil {
		return nil, err
	}
	if err := add("empty Go", empty); err != nil {
		return nil, err
	}
	for _, name := range names {
		program, args := bridge, []string{"claude", "PreToolUse", "--limit=60s"}
		switch name {
		case ours:
			program, args = hookd, append([]string{"bridge"}, args...)
		case "lean":
			if program, err = k.hookd(ctx, leanTag); err != nil {
				return nil, err
			}
			args = append([]string{"bridge"}, args...)
		}
		if err := errors.Join(tryBridge(ctx, p, program, args), add(name, program, args...)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// empty is an empty program in Go.
func (k *kit) empty(ctx context.Context) (string, error) {
	source := filepath.Join(k.folder, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return "", err
	}
	return k.goProgram(ctx, "empty", source)
}

// hostPayload is a tool call as Claude Code writes it, of the usual size.
func hostPayload(p *project) []byte {
	const form = `{"session_id":"bench","transcript_path":"/t","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls %s"},"tool_use_id":"c1"}`
	filler := usualSize - len(fmt.Sprintf(form, p.root, ""))
	return fmt.Appendf(nil, form, p.root, strings.Repeat("x", max(0, filler)))
}

// tryBridge fails unless the event passes without a word.
func tryBridge(ctx context.Context, p *project, program string, args []string) error {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env, c.Stdin = p.root, p.environ(), bytes.NewReader(hostPayload(p))
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		return fmt.Errorf("%s: %v: %s", filepath.Base(program), err, out)
	}
	return nil
}

// startDaemon starts the daemon of a project, which ends with the row.
func (k *kit) startDaemon(ctx context.Context, p *project, hookd string) error {
	c := exec.Command(hookd, "serve", "--socket", "--idle", "1h")
	c.Dir, c.Env = p.root, p.environ()
	if err := c.Start(); err != nil {
		return err
	}
	k.atEnd(func() error {
		return errors.Join(c.Process.Signal(syscall.SIGTERM), c.Wait())
	})
	for end := time.Now().Add(20 * time.Second); ; {
		status := exec.CommandContext(ctx, hookd, "serve", "--socket", "--status")
		status.Dir, status.Env = p.root, p.environ()
		out, err := status.CombinedOutput()
		if err == nil || time.Now().After(end) {
			return err
		}
		if err := sleep(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
}
