package acpagent

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/test/golden"
)

// optionsClient is a client whose user has models in the settings, and a second script.
func optionsClient(t *testing.T, script string) (c *client, other string) {
	t.Helper()
	c = newClient(t, script)
	c.write("home/.acai/acai.json", `{"agent": {"model": "openai:local", "baseUrl": "http://127.0.0.1:9/v1",
		"prices": [{"model": "gpt-9", "inputPerMTok": 1, "outputPerMTok": 1}, {"model": "claude-*", "inputPerMTok": 1, "outputPerMTok": 1},
			{"model": "claude-9", "inputPerMTok": 1, "outputPerMTok": 1}]}}`, 0o644)
	c.write("other.yaml", "turns:\n- text: the other one\n- text: the other one again\n", 0o644)
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("OPENAI_API_KEY", "")
	c.start()
	c.initialize(object{})
	return c, "scripted:" + filepath.Join(c.folder, "other.yaml")
}

func setOption(session, id string, value any) object {
	return object{"sessionId": session, "configId": id, "value": value}
}

// current is what an option is at.
func current(t *testing.T, options []acp.ConfigOption, id string) string {
	t.Helper()
	i := slices.IndexFunc(options, func(o acp.ConfigOption) bool { return o.ID == id })
	if i < 0 {
		t.Fatalf("no option %s: %+v", id, options)
	}
	return options[i].CurrentValue
}

// What a client is told when it sets options, and when the person does so with a command or the
// client by the older method.
func TestOptionsConversation(t *testing.T) {
	c, other := optionsClient(t, "turns:\n- text: the first one\n")
	session := c.session()
	c.prompt(session, text("hello")...)
	var set acp.SetConfigResult
	c.call(acp.SessionSetConfigOption, setOption(session, "model", other), &set)
	if current(t, set.ConfigOptions, "model") != other {
		t.Errorf("%+v", set)
	}
	c.prompt(session, text("hello")...)
	c.prompt(session, text("/model openai:local")...)
	c.call(acp.SessionSetConfigOption, setOption(session, "mode", "edit"), nil)
	c.call(acp.SessionSetMode, object{"sessionId": session, "modeId": "run"}, nil)
	c.call(acp.SessionClose, object{"sessionId": session}, nil)
	c.call(acp.SessionResume, object{"sessionId": session, "cwd": c.project, "mcpServers": []any{}}, nil)
	c.update(acp.CommandsChanged)
	c.end()
	golden.Check(t, filepath.Join("testdata", "options.txt"), c.transcript())
}

// A model that is chosen while a prompt is worked on answers the next one, and not this one.
func TestAModelIsChosenDuringATurn(t *testing.T) {
	c, other := optionsClient(t, "turns:\n- toolCalls: [{name: bash, args: {command: 'true'}}]\n- text: the first one\n")
	session := c.session()
	id := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})
	question := c.until(func(m *rpc.Message) bool { return m.Method == acp.SessionRequestPermission })
	var set acp.SetConfigResult
	c.call(acp.SessionSetConfigOption, setOption(session, "model", other), &set)
	if current(t, set.ConfigOptions, "model") != other {
		t.Errorf("%+v", set)
	}
	c.raw(string(rpc.AppendResult(nil, question.ID, []byte(encode(acp.PermissionResult{Outcome: acp.PermissionOutcome{Outcome: "selected", OptionID: "allow"}})))))
	said := c.saidUntil(id)
	if !strings.Contains(said, "the first one") || strings.Contains(said, "the other one") {
		t.Errorf("the turn went on with %q", said)
	}
	if said := c.saidUntil(c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})); said != "the other one" {
		t.Errorf("the next turn was answered with %q", said)
	}
}

// saidUntil returns what the model says until a request is answered.
func (c *client) saidUntil(id int) string {
	c.t.Helper()
	var said strings.Builder
	c.until(func(m *rpc.Message) bool {
		if kindOf(m) == acp.AgentMessageChunk {
			var params struct {
				Update acp.Chunk `json:"update"`
			}
			if err := json.Unmarshal(m.Params, &params); err != nil {
				c.t.Fatal(err)
			}
			said.WriteString(*params.Update.Content.Text)
		}
		return m.Method == "" && string(m.ID) == string(encode(id))
	})
	return said.String()
}

// Changes and prompts that a client sends without waiting are obeyed in their order, also while
// the session is still being opened.
func TestChangesKeepTheirPlace(t *testing.T) {
	c, other := optionsClient(t, "turns:\n- text: the first one\n- text: the first one again\n")
	session := c.session()
	c.prompt(session, text("hello")...)
	c.call(acp.SessionClose, object{"sessionId": session}, nil)

	c.send(acp.SessionResume, object{"sessionId": session, "cwd": c.project, "mcpServers": []any{}})
	c.send(acp.SessionSetConfigOption, setOption(session, "model", "openai:local"))
	c.send(acp.SessionSetConfigOption, setOption(session, "model", other))
	if said := c.saidUntil(c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})); said != "the other one" {
		t.Errorf("the prompt was answered with %q", said)
	}
}

// What cannot be chosen is an error that says what can be, and changes nothing.
func TestOptionsThatThereAreNot(t *testing.T) {
	c, _ := optionsClient(t, "turns:\n- text: the first one\n")
	session := c.session()
	for name, test := range map[string]struct {
		params object
		want   string
	}{
		"no such session":    {setOption("x", "model", "openai:local"), `no open session "x"`},
		"no such option":     {setOption(session, "thinking", "high"), `no option "thinking"; it has mode and model`},
		"no such mode":       {setOption(session, "mode", "all"), `no mode "all", it has: ask, edit, run`},
		"no such provider":   {setOption(session, "model", "acme:x"), "there is no model provider acme"},
		"a key is not set":   {setOption(session, "model", "anthropic:x"), "ANTHROPIC_API_KEY is not set"},
		"a switch":           {setOption(session, "model", true), `the value of "model" must be the text of one of its choices`},
		"no value":           {object{"sessionId": session, "configId": "model"}, "must be the text"},
		"a name of no model": {setOption(session, "model", ""), "must name"},
	} {
		if e := c.fails(acp.SessionSetConfigOption, test.params); !strings.Contains(e.Message, test.want) {
			t.Errorf("%s: %v", name, e)
		}
	}
	if ended := c.prompt(session, text("hello")...); ended.StopReason != acp.EndTurn {
		t.Errorf("the session does not go on: %+v", ended)
	}
}
