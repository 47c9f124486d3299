//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/schema"
)

// door is one way through hookd to a server in C, and what a client says on it.
type door struct {
	name    string
	flags   []string // of the server's compiler
	args    []string // of hookd; the server follows
	opening func(p *project) string
	request string // judged, with its answer
	note    string // passes, as does the server's
}

var (
	mcp = door{
		name: "mcp", args: []string{"mcp", "--name", "bench", "--"}, opening: func(*project) string { return "" },
		request: `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run","arguments":{"text":"%s"}}}` + "\n",
		note:    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%s","progress":1}}` + "\n",
	}
	acp = door{
		name: "acp", flags: []string{"-DACP"}, args: []string{"acp", "--"}, opening: func(p *project) string {
			return `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}` + "\n" +
				fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", p.root)
		},
		request: `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"%s"}]}}` + "\n",
		note:    `{"jsonrpc":"2.0","method":"_bench/note","params":{"text":"%s"}}` + "\n",
	}
)

// judged is a request of 1 KiB and its answer, with so many resident hooks in C that may refuse
// it; passed is a notification each way.
func (d *door) judged(hooks int) func(context.Context, *kit) (*race, error) {
	return d.race(hooks, d.request)
}
func (d *door) passed() func(context.Context, *kit) (*race, error) { return d.race(0, d.note) }

// race sends a line of 1 KiB through hookd and waits for the server's on its way back. It is
// compared with the same client and server without hookd.
func (d *door) race(hooks int, line string) func(context.Context, *kit) (*race, error) {
	return func(ctx context.Context, k *kit) (*race, error) {
		hook, err := k.hook(ctx, "c", answering)
		if err != nil {
			return nil, err
		}
		server, err := k.compile(ctx, "rpcserver.c", d.name+"server", slices.Concat(bareFlags, d.flags)...)
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
		said := talk{opening: []byte(d.opening(p)), line: fmt.Appendf(nil, line, strings.Repeat("x", usualSize-len(line))), program: server}
		base, err := k.talks(ctx, direct, said)
		if err != nil {
			return nil, err
		}
		said.dir, said.env, said.program, said.args = p.root, p.environ(), hookd, append(slices.Clone(d.args), server)
		through, err := k.talks(ctx, ours, said)
		return &race{players: []player{base, through}}, err
	}
}
