package protocol

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
)

// F56: hooks read the model's own args where they differ from the ones that stand.
func TestOriginalArgs(t *testing.T) {
	modify := func(changes string, sensitive bool) Answer {
		return Answer{HookInfo: HookInfo{Name: "m", Layer: Project, Class: CanModify, Sensitive: sensitive},
			ReadResult: ReadResult{Reply: &Reply{Action: Modify, Changes: RawMessage(changes)}}}
	}
	const asked = `{"command":"rm -rf \u0062uild","n":1e400}`
	host := strings.Replace(toolCall(asked), `,"parallel"`, `,"original":{"command":"the host's"},"parallel"`, 1)
	for name, c := range map[string]struct {
		event   string
		answers []Answer
		want    string // of data.original, "" = none
	}{
		"nothing changed":      {toolCall(asked), nil, ""},
		"changed":              {toolCall(asked), []Answer{modify(`{"args":{"command":"x"}}`, false)}, asked},
		"changed twice":        {toolCall(asked), []Answer{modify(`{"args":{"command":"x"}}`, false), modify(`{"args":{"more":1}}`, false)}, asked},
		"changed back":         {toolCall(asked), []Answer{modify(`{"args":{"command":"x"}}`, false), modify(`{"args":{"command":"rm -rf build"}}`, false)}, ""},
		"no more than spelled": {toolCall(asked), []Answer{modify(`{"args":{"command":"rm -rf build"}}`, false)}, ""},
		"sensitive":            {toolCall(asked), []Answer{modify(`{"args":{"command":"x"}}`, true)}, ""},
		"sensitive, then more": {toolCall(asked), []Answer{modify(`{"args":{"command":"x"}}`, true), modify(`{"args":{"command":"y"}}`, false)}, ""},
		"more, then sensitive": {toolCall(asked), []Answer{modify(`{"args":{"command":"y"}}`, false), modify(`{"args":{"command":"x"}}`, true)}, ""},
		"of the host":          {host, []Answer{modify(`{"args":{"command":"y"}}`, false)}, `{"command":"the host's"}`},
		"of the host, hidden":  {host, []Answer{modify(`{"args":{"command":"y"}}`, true)}, ""},
		"not to be changed":    {toolCall(asked), []Answer{modify(`{"args":{"command":"y"}}`, false), modify(`{"original":{"command":"ls"}}`, false)}, asked},
		"not to be changed by patch": {toolCall(asked), []Answer{modify(`{"args":{"command":"y"}}`, false),
			{HookInfo: HookInfo{Name: "p", Layer: Project, Class: CanModify}, ReadResult: ReadResult{Reply: &Reply{Action: Modify, Patch: RawMessage(`[{"op":"replace","path":"/original/command","value":"ls"}]`)}}}}, asked},
	} {
		ev := mustDecode(t, c.event)
		fold := Begin(ev, FoldOptions{})
		for _, a := range c.answers {
			fold, _ = fold.Add(a)
		}
		after := fold.ForHooks()
		if got := string(jsonspan.Get(after.Data, "original")); got != c.want {
			t.Errorf("%s: data.original is %s, want %s", name, got, c.want)
		}
		if err := CheckEvent(&after); err != nil || !jsonspan.Valid(after.Data) {
			t.Errorf("%s: %s: %v", name, after.Data, err)
		}
		if o := fold.Outcome(); !strings.Contains(c.event, "original") && jsonspan.Get(o.Event.Data, "original") != nil || o.ArgsHidden != strings.Contains(name, "sensitive") && !strings.Contains(name, "hidden") {
			t.Errorf("%s: the host gets %s, hidden %v", name, o.Event.Data, o.ArgsHidden)
		}
		if strings.HasPrefix(name, "sensitive") {
			if got := fold.ModelArgs(); string(got) != asked {
				t.Errorf("%s: hooks in Go are told %s", name, got)
			}
		}
		refused, _ := fold.Add(Answer{HookInfo: HookInfo{Name: "b", Layer: Project, Class: CanBlock}, ReadResult: ReadResult{Reply: &Reply{Action: Block}}})
		if got := string(refused.Outcome().Event.Data); got != string(ev.Data) {
			t.Errorf("%s: a refused call is told as %s", name, got)
		}
	}
	if _, err := DecodeEvent([]byte(strings.Replace(toolCall(`{}`), `,"parallel"`, `,"original":"x","parallel"`, 1)), DecodeLimits{}); err == nil {
		t.Error("an original that is no object was taken")
	}
}
