//go:build unix

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/schema"
)

// What a client of MCP says again and again.
const (
	aCall         = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run","arguments":{"text":"%s"}}}` + "\n"
	aNotification = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%s","progress":1}}` + "\n"
)

// proxied is a line of 1 KiB through hookd mcp to a server in C, and the server's answer on
// its way back, with so many resident hooks in C that may refuse a call. It is compared with
// the same client and server without the proxy.
func proxied(hooks int, line string) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		hook, err := k.hook(ctx, "c", answering)
		if err != nil {
			return nil, err
		}
		server, err := k.compile(ctx, "mcpserver.c", "mcpserver", bareFlags...)
		if err != nil {
			return nil, err
		}
		p, err := newProject(ctx, k.folder, guards(hook, hooks, schema.Resident), nil)
		if err != nil {
			return nil, err
		}
		hookd, err := k.hookd(ctx, "")
		if err != nil {
			return nil, err
		}
		text := fmt.Appendf(nil, line, strings.Repeat("x", usualSize-len(line)))
		base, err := k.talks(ctx, direct, talk{line: text, program: server})
		if err != nil {
			return nil, err
		}
		through, err := k.talks(ctx, ours, talk{
			line: text, dir: p.root, env: p.environ(), program: hookd, args: []string{"mcp", "--name", "bench", "--", server},
		})
		return &race{players: []player{base, through}}, err
	}
}
