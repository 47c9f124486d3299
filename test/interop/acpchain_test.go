//go:build interop && unix

package interop

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// conductor runs a chain: the folder of the package, and the command of each member as a list.
const conductor = `
import { createInterface } from 'node:readline'
const [folder, ...commands] = process.argv.slice(2)
const { Conductor, fromCommands } = await import('file://' + folder + '/dist/index.js')
const lines = createInterface({ input: process.stdin })
const client = {
  send: (message) => process.stdout.write(JSON.stringify(message) + '\n'),
  messages: (async function* () { for await (const line of lines) yield JSON.parse(line) })(),
  close: async () => lines.close(),
}
const members = commands.map((text) => { const [command, ...args] = JSON.parse(text); return { command, args } })
const conductor = new Conductor({ instantiator: fromCommands(members) })
await conductor.connect({ connect: async () => client })
await conductor.shutdown()
`

// TestMemberOfAChain: hookd acp --chain in front of an agent, in a chain of a conductor that
// others wrote: hooks refuse a prompt, and have a turn go on. This conductor tells only the first
// of its proxies that it is one: a second hookd would refuse to begin.
func TestMemberOfAChain(t *testing.T) {
	folder := peer(t, "@thinkwell/conductor@0.5.7")
	agent := []string{"node", filepath.Join(peer(t, "@agentclientprotocol/sdk@0.14.1"), "dist", "examples", "agent.js")}
	b := newBox(t)
	b.guards(t, "")
	b.write(t, "conductor.mjs", conductor, 0o600)
	argv := []string{filepath.Join(b.folder, "conductor.mjs"), folder}
	for _, command := range [][]string{{binary, "acp", "--chain"}, b.recorded(agent)} {
		text, err := json.Marshal(command)
		if err != nil {
			t.Fatal(err)
		}
		argv = append(argv, string(text))
	}
	e := startEditor(t, b, nil, exec.Command("node", argv...))
	session := e.open(b.project)
	if stop := e.prompt(session, "a secret"); stop != "refusal" || !strings.Contains(e.text, "the hook prompts.sh refused this prompt: no secrets") {
		t.Errorf("%s: %s", stop, e.text)
	}
	if stop := e.prompt(session, "go"); stop != "end_turn" || len(e.asked) != 2 || !strings.Contains(e.text, "the hook stop.sh has the agent go on: and once more") {
		t.Errorf("%s, asked %q: %s", stop, e.asked, e.text)
	}
}
