package agentloop

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/anthropic"
	"github.com/hookd-dev/hookd/agentloop/model/openai"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// cacheHooks are hooks that would cost a provider's cache, if what they say for
// one call stood before what all calls have.
var cacheHooks = map[string]hook{
	"no hook": {on: protocol.Notification},
	"context": {on: protocol.InferenceStart, dynamic: func(e protocol.Event) protocol.Reply {
		return protocol.Reply{Context: fmt.Sprintf("it is event %d", e.Seq)}
	}},
	"a message at the end": {on: protocol.InferenceStart, dynamic: func(e protocol.Event) protocol.Reply {
		patch := fmt.Sprintf(`[{"op":"add","path":"/messages/-","value":{"role":"user","content":"event %d"}}]`, e.Seq)
		return protocol.Reply{Action: protocol.Modify, Patch: []byte(patch)}
	}},
	"another first message": {on: protocol.InferenceStart, reply: protocol.Reply{
		Action: protocol.Modify, Patch: []byte(`[{"op":"replace","path":"/messages/0/content","value":"redacted"}]`),
	}},
}

// TestCacheGrows: what two calls one after the other find again in a provider's
// cache grows with the conversation, whatever hooks say for each call.
func TestCacheGrows(t *testing.T) {
	call := func(id string, n int) (calls []modelserver.Call) {
		for i := range n {
			calls = append(calls, modelserver.Call{ID: fmt.Sprintf("%s%d", id, i), Name: "look", Args: `{}`})
		}
		return calls
	}
	turns := []modelserver.Turn{
		{Text: "one", Calls: call("a", 1)}, {Text: "two", Calls: call("b", 30)}, {Text: "three", Calls: call("c", 1)},
		{Calls: []modelserver.Call{{ID: "s", Name: "spawn_subagent", Args: `{"prompt":"dig"}`}}},
		{Text: "sub one", Calls: call("d", 1)}, {Text: "sub two", Calls: call("e", 2)}, {Text: "sub done"}, // the sub-agent's
		{Text: "done"},
		{Text: "r one", Calls: call("f", 1)}, {Text: "r two", Calls: call("g", 1)}, {Text: "r done"}, // the recipe's
	}
	conversations := [][]int{{0, 1, 2, 3, 7}, {4, 5, 6}, {8, 9, 10}}
	for kind, h := range cacheHooks {
		for _, provider := range []string{"anthropic", "openai"} {
			t.Run(kind+"/"+provider, func(t *testing.T) {
				requests := cacheRun(t, provider, h, turns)
				for _, calls := range conversations {
					before := 0
					for i := 1; i < len(calls); i++ {
						found := foundAgain(t, requests[calls[i-1]], requests[calls[i]])
						if found <= before {
							t.Errorf("call %d finds %d blocks of the one before, and that found %d", calls[i], found, before)
						}
						before = found
					}
				}
			})
		}
	}
}

// cacheRun plays the turns and returns what the server was sent.
func cacheRun(t *testing.T, kind string, h hook, turns []modelserver.Turn) []map[string]any {
	t.Helper()
	var answers []modelserver.Answer
	for _, turn := range turns {
		body := modelserver.Anthropic(turn)
		if kind == "openai" {
			body = modelserver.OpenAI(turn)
		}
		answers = append(answers, modelserver.Answer{Body: body})
	}
	server := modelserver.New(t, answers...)
	var m model.Model
	var err error
	if kind == "anthropic" {
		m, err = anthropic.New(anthropic.Options{Model: "claude-test", BaseURL: server.URL})
	} else {
		m, err = openai.New(openai.Options{Model: "test", BaseURL: server.URL})
	}
	if err != nil {
		t.Fatal(err)
	}
	look := tool.New(tool.Description{Name: "look", Description: "looks"}, func(context.Context, struct{}) (protocol.Result, error) {
		return tool.OK("seen"), nil
	})
	recipes, findings := recipe.New(recipe.File{Name: "check", Path: "/check.md", Layer: protocol.User, Text: []byte("---\ndescription: checks\nallowed_tools: [look]\n---\ncheck it\n")})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	loop, err := New(Options{Gate: &fakeGate{hooks: []hook{h}}, Model: m, Tools: []tool.Tool{look}, NoDefaults: true, Providers: []provider.Provider{builtin.Done(), builtin.SubAgents()}, System: "be good", Recipes: recipes})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range []func() (*Run, error){
		func() (*Run, error) { return loop.Run(t.Context(), "go") },
		func() (*Run, error) { return loop.RunRecipe(t.Context(), "check", nil) },
	} {
		run, err := start()
		if err != nil {
			t.Fatal(err)
		}
		for range run.Events() {
		}
		if err := run.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	var list []map[string]any
	for _, r := range server.Requests() {
		var body map[string]any
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
			t.Fatal(err)
		}
		list = append(list, body)
	}
	if len(list) != len(turns) {
		t.Fatalf("%d requests", len(list))
	}
	return list
}

// foundAgain is how many blocks of the earlier request the later one reads from
// the cache: to the last place that both have marked, and without marks (OpenAI
// needs none) as far as both are alike.
func foundAgain(t *testing.T, earlier, later map[string]any) int {
	t.Helper()
	a, b := cacheBlocks(t, earlier), cacheBlocks(t, later)
	marks := func(blocks []string) (n int) {
		for _, block := range blocks {
			if strings.HasSuffix(block, cacheMark) {
				n++
			}
		}
		return n
	}
	if n := max(marks(a), marks(b)); n > 4 {
		t.Errorf("%d marks", n)
	}
	found, same := 0, 0
	for same < min(len(a), len(b)) && strings.TrimSuffix(a[same], cacheMark) == strings.TrimSuffix(b[same], cacheMark) {
		same++
		if strings.HasSuffix(a[same-1], cacheMark) && strings.HasSuffix(b[same-1], cacheMark) {
			found = same
		}
	}
	if marks(a) == 0 {
		return same
	}
	return found
}

const cacheMark = " (marked)"

// cacheBlocks are all blocks of a request in the order in which the server reads
// them, those that are marked with a sign at their end.
func cacheBlocks(t *testing.T, request map[string]any) (list []string) {
	t.Helper()
	add := func(head string, block any) {
		sign := ""
		if object, is := block.(map[string]any); is {
			if object["cache_control"] != nil {
				sign = cacheMark
			}
			delete(object, "cache_control")
			defer func() {
				if sign != "" {
					object["cache_control"] = true
				}
			}()
		}
		text, err := json.Marshal(block)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, head+string(text)+sign)
	}
	each := func(head string, value any) {
		if blocks, is := value.([]any); is {
			for _, block := range blocks {
				add(head, block)
			}
		} else if value != nil {
			add(head, value)
		}
	}
	each("tool ", request["tools"])
	each("system ", request["system"])
	for _, m := range request["messages"].([]any) {
		message := m.(map[string]any)
		each(fmt.Sprint(message["role"], " "), message["content"])
		each("call ", message["tool_calls"])
	}
	return slices.Clip(list)
}
