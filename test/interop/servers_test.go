//go:build interop && unix

package interop

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	everything = "@modelcontextprotocol/server-everything"
	filesystem = "@modelcontextprotocol/server-filesystem"
)

func program(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(peer(t, name), "dist", "index.js")
}

func isOutput(s said) bool { return s.Kind == "output" }

// everythingBox has the server over its pipes, with variables in its settings.
func everythingBox(t *testing.T) *box {
	server := program(t, everything)
	b := newBox(t)
	b.servers(t, map[string]any{"all": map[string]any{
		"command": "node", "args": []string{"${INTEROP_PROGRAM}", "stdio"},
		"env": map[string]string{"GREETING": "from ${INTEROP_NAME}", "MODE": "${INTEROP_MODE:-usual}"},
	}})
	t.Setenv("INTEROP_PROGRAM", server)
	return b
}

func (b *box) talkAll(t *testing.T, turns string) *talk {
	t.Helper()
	k := b.talk(t, turns, "INTEROP_PROGRAM="+os.Getenv("INTEROP_PROGRAM"), "INTEROP_NAME=the outside")
	b.ready(t, "index.js")
	return k
}

// hooksOfEverything change one call of the server that has everything, and refuse one.
func (b *box) hooksOfEverything(t *testing.T) {
	t.Helper()
	b.write(t, "home/.acai/hooks/more.sh", `#!/bin/sh
# hook: events=tool-call-start match.tool=mcp__all__get-sum can=modify onFailure=block
echo '{"action":"modify","changes":{"args":{"a":40,"b":2}}}'
`, 0o755)
	b.write(t, "home/.acai/hooks/no-images.sh", `#!/bin/sh
# hook: events=tool-call-start match.tool=mcp__all__get-tiny-* can=block onFailure=block
echo '{"action":"block","reason":"no images today"}'
`, 0o755)
}

// TestEverything: the tools of a real server join, calls work, hooks change one
// and refuse one, variables reach it, its progress is shown.
func TestEverything(t *testing.T) {
	b := everythingBox(t)
	b.hooksOfEverything(t)
	k := b.talkAll(t, `turns:
- expect: [{in: tools, contains: mcp__all__trigger-long-running-operation}]
  toolCalls:
  - {id: echo, name: mcp__all__echo, args: {message: "grüße 👋"}}
  - {id: sum, name: mcp__all__get-sum, args: {a: 1, b: 2}}
  - {id: image, name: mcp__all__get-tiny-image, args: {}}
  - {id: env, name: mcp__all__get-env, args: {}}
  - {id: roots, name: mcp__all__get-roots-list, args: {}}
  - {id: structured, name: mcp__all__get-structured-content, args: {location: Chicago}}
  - {id: wrong, name: mcp__all__get-sum, args: {a: one}}
- expect:
  - {in: "toolResult:echo", contains: "Echo: grüße 👋"}
  - {in: "toolResult:sum", contains: The sum of 40 and 2 is 42}
  - {in: "toolResult:image", contains: no images today}
  - {in: "toolResult:env", contains: from the outside}
  - {in: "toolResult:env", contains: '"MODE": "usual"'}
  - {in: "toolResult:roots", contains: "file://`+b.project+`"}
  - {in: "toolResult:structured", contains: temperature}
  toolCalls:
  - {id: long, name: mcp__all__trigger-long-running-operation, args: {duration: 1, steps: 4}}
- expect: [{in: "toolResult:long", contains: "completed. Duration: 1 seconds"}]
  text: good
`)
	k.say(`{"prompt":"use them"}`)
	k.until("progress", func(s said) bool { return isOutput(s) && strings.Contains(s.Text, "/4]") })
	k.result("done")
	k.end()
}

// TestEverythingAbort: an abort ends a long call at once; the server lives on.
func TestEverythingAbort(t *testing.T) {
	b := everythingBox(t)
	k := b.talkAll(t, `turns:
- toolCalls: [{id: long, name: mcp__all__trigger-long-running-operation, args: {duration: 60, steps: 300}}]
- toolCalls: [{id: echo, name: mcp__all__echo, args: {message: still here}}]
- expect: [{in: "toolResult:echo", contains: "Echo: still here"}]
  text: good
`)
	k.say(`{"prompt":"take long"}`)
	k.until("progress", isOutput)
	began := time.Now()
	k.say(`{"abort":true}`)
	k.result("aborted")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the abort took %s", took)
	}
	k.say(`{"prompt":"and now?"}`)
	k.result("done")
	if strings.Contains(k.told(), "MCP server") {
		t.Errorf("something was told of the server: %s", k.told())
	}
	k.end()
}

// TestEverythingDeath: the death of a server in a call is an error that the model
// reads, and the next call goes to a new one.
func TestEverythingDeath(t *testing.T) {
	b := everythingBox(t)
	k := b.talkAll(t, `turns:
- toolCalls: [{id: long, name: mcp__all__trigger-long-running-operation, args: {duration: 60, steps: 300}}]
- expect: [{in: "toolResult:long", contains: the MCP server all gave no result}]
  text: it died
- toolCalls: [{id: echo, name: mcp__all__echo, args: {message: born again}}]
- expect: [{in: "toolResult:echo", contains: "Echo: born again"}]
  text: good
`)
	k.say(`{"prompt":"take long"}`)
	k.until("progress", isOutput)
	began := time.Now()
	for pid, line := range b.alive() {
		if strings.Contains(line, "index.js") {
			number, err := strconv.Atoi(pid)
			if err != nil || syscall.Kill(number, syscall.SIGKILL) != nil {
				t.Fatalf("%s %s: %v", pid, line, err)
			}
		}
	}
	k.result("done")
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the death was noticed after %s", took)
	}
	k.awaitTold("MCP server all runs again")
	k.say(`{"prompt":"once more"}`)
	k.result("done")
	k.end()
}

// TestFilesystem: a server that works on the project's files, and a hook that
// guards one of them.
func TestFilesystem(t *testing.T) {
	server := program(t, filesystem)
	b := newBox(t)
	b.servers(t, map[string]any{"files": map[string]any{"command": "node", "args": []string{server, "${HOME}/../proj"}}})
	b.write(t, "home/.acai/hooks/secrets.sh", `#!/bin/sh
# hook: events=tool-call-start match.tool=mcp__files__* can=block onFailure=block
case $(cat) in *'/.env"'*) echo '{"action":"block","reason":"that file is secret"}';; esac
`, 0o755)
	b.write(t, "proj/.env", "KEY=s3cret\n", 0o600)
	path := func(name string) string { return filepath.Join(b.project, name) }
	k := b.talk(t, `turns:
- expect: [{in: tools, contains: mcp__files__write_file}]
  toolCalls:
  - {id: write, name: mcp__files__write_file, args: {path: "`+path("a.txt")+`", content: "one\ntwo\n"}}
- expect: [{in: "toolResult:write", contains: Successfully wrote}]
  toolCalls:
  - {id: read, name: mcp__files__read_text_file, args: {path: "`+path("a.txt")+`"}}
  - {id: secret, name: mcp__files__read_text_file, args: {path: "`+path(".env")+`"}}
  - {id: away, name: mcp__files__read_text_file, args: {path: /etc/hostname}}
- expect:
  - {in: "toolResult:read", contains: two}
  - {in: "toolResult:secret", contains: that file is secret}
  - {in: "toolResult:away", contains: Access denied}
  text: good
`)
	b.ready(t, "index.js")
	k.say(`{"prompt":"files"}`)
	k.result("done")
	k.end()
	if text, err := os.ReadFile(path("a.txt")); string(text) != "one\ntwo\n" {
		t.Errorf("the server wrote %q (%v)", text, err)
	}
}
