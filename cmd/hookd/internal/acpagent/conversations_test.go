package acpagent

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/test/golden"
)

// transcript returns all frames so far, with names in the place of what differs from run to run.
func (c *client) transcript() []byte {
	c.mu.Lock()
	all := strings.Join(c.log, "\n") + "\n"
	c.mu.Unlock()
	all = strings.ReplaceAll(all, c.project, "PROJECT")
	all = strings.ReplaceAll(all, c.folder, "FOLDER")
	all = regexp.MustCompile(`"updatedAt":"[^"]*"`).ReplaceAllString(all, `"updatedAt":"TIME"`)
	all = regexp.MustCompile(`"durationMs":[0-9.]+`).ReplaceAllString(all, `"durationMs":0`)
	names := map[string]string{}
	return []byte(regexp.MustCompile(`\b01[0-9A-HJKMNP-TV-Z]{24}\b`).ReplaceAllStringFunc(all, func(id string) string {
		if names[id] == "" {
			names[id] = "ID" + string(rune('A'+len(names)))
		}
		return names[id]
	}))
}

const wholeScript = `
contextMax: 1000
turns:
- thinking: "hm, a plan"
  text: "I begin."
  usage: {inputTokens: 10, outputTokens: 5, contextTokens: 15, costUsd: 0.25}
  toolCalls: [{name: todo_write, args: {items: [{text: write it, status: in_progress}]}}]
- toolCalls: [{name: bash, args: {command: "echo hello"}}]
- toolCalls: [{name: write_file, args: {path: a.txt, content: "one\n"}}]
- toolCalls: [{name: edit_file, args: {path: a.txt, oldText: one, newText: two}}]
- toolCalls: [{name: read_file, args: {path: a.txt}}]
- toolCalls: [{name: bash, args: {command: "rm -rf /"}}]
- toolCalls: [{name: bash, args: {command: "echo changed by nobody"}}]
- text: "All done."
  usage: {inputTokens: 20, outputTokens: 5, contextTokens: 40, costUsd: 0.25}
`

const compactedScript = `
turns:
- text: "first"
- text: "all that was said"
- text: "second"
- {text: "half a sum", hang: true}
- text: "third"
- {fail: no room, status: 400}
`

// What a client that takes compactions is told of one that ends, one that is cancelled, and one that
// comes to nothing.
func TestCompactions(t *testing.T) {
	c := newClient(t, compactedScript)
	c.start()
	c.initialize(object{"session": object{"notices": object{}, "compaction": object{}}})
	session := c.session()
	c.prompt(session, text("one")...)
	c.prompt(session, text("/compact")...)
	c.prompt(session, text("two")...)
	id := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("/compact")})
	c.update(acp.CompactionChunk)
	c.notify(acp.SessionCancel, object{"sessionId": session})
	c.wait(id)
	c.prompt(session, text("three")...)
	c.fails(acp.SessionPrompt, object{"sessionId": session, "prompt": text("/compact")})
	c.end()
	golden.Check(t, filepath.Join("testdata", "compactions.txt"), c.transcript())
}

// What a client is told of a turn with all that a turn may have, of one that hooks refuse, and
// of the session when it is loaded again.
func TestConversation(t *testing.T) {
	for name, capabilities := range map[string]object{
		"messages": {},
		"notices":  {"session": object{"notices": object{}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, wholeScript)
			c.hook("guard.sh", "events=tool-call-start match.tool=bash can=modify", `case $(cat) in
*'rm -rf'*) echo '{"action":"block","reason":"nothing is removed here"}' ;;
*nobody*) echo '{"changes":{"args":{"command":"echo changed by guard"}},"notice":"I changed a command"}' ;;
esac`)
			c.hook("prompts.sh", "events=prompt-submit can=block", `case $(cat) in *secret*) echo '{"action":"block","reason":"no secrets"}' ;; esac`)
			c.answer = chooses("allow")
			c.start()
			c.initialize(capabilities)
			session := c.session()
			if ended := c.prompt(session, text("do it")...); ended.StopReason != acp.EndTurn {
				t.Errorf("%+v", ended)
			}
			if ended := c.prompt(session, text("my secret")...); ended.StopReason != acp.Refusal || ended.Meta.Hookd.By != "prompts.sh" {
				t.Errorf("%+v", ended)
			}
			c.call(acp.SessionList, object{"cwd": c.project}, nil)
			c.call(acp.SessionClose, object{"sessionId": session}, nil)
			if name == "messages" {
				c.call(acp.SessionLoad, object{"sessionId": session, "cwd": c.project, "mcpServers": []any{}}, nil)
				c.update(acp.CommandsChanged)
			}
			c.end()
			golden.Check(t, filepath.Join("testdata", name+".txt"), c.transcript())
		})
	}
}
