package mcpproxy

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// What hooks changed of a result is written to where they read it; all else keeps its bytes,
// and structured content never says what a hook took out of the text.
func TestWriteBack(t *testing.T) {
	const (
		texts     = `{ "content" : [ {"type":"text","text":"a","n":1e2} , {"type":"image","data":"AA==","mimeType":"image/png"}, {"type":"odd","x":[1.0]} ], "_meta":{"n":12345678901234567890}}`
		resource  = `{"content":[{"type":"resource","resource":{"uri":"u","text":"a","n":1.0}}]}`
		repeated  = `{"content":[{"type":"text","text":"{\"k\": 1}"}],"structuredContent":{ "k":1 }}`
		only      = `{"content":[],"structuredContent":{"k":1.0}}`
		noContent = `{"structuredContent":{"k":1.0}}`
	)
	change := func(at int, text string) func(*protocol.Result) {
		return func(r *protocol.Result) { r.Content[at].Text = text }
	}
	for name, test := range map[string]struct {
		raw, want string
		edit      func(*protocol.Result)
		texts     []string
	}{
		"nothing":              {texts, texts, func(*protocol.Result) {}, nil},
		"a text":               {texts, strings.Replace(texts, `"text":"a"`, `"text":"b\""`, 1), change(0, `b"`), nil},
		"an image goes":        {texts, `{ "content" : [{"type":"text","text":"a","n":1e2},{"type":"odd","x":[1.0]}], "_meta":{"n":12345678901234567890}}`, func(r *protocol.Result) { r.Content = append(r.Content[:1:1], r.Content[2]) }, nil},
		"all goes":             {texts, `{ "content" : [{"type":"text","text":"x"}], "_meta":{"n":12345678901234567890}}`, func(r *protocol.Result) { r.Content = protocol.TextContent("x") }, nil},
		"it is an error now":   {resource, `{"content":[{"type":"resource","resource":{"uri":"u","text":"a","n":1.0}}],"isError":true}`, func(r *protocol.Result) { r.IsError = true }, nil},
		"text of a resource":   {resource, strings.Replace(resource, `"a"`, `"b"`, 1), change(0, "b"), nil},
		"context":              {resource, `{"content":[{"type":"resource","resource":{"uri":"u","text":"a","n":1.0}},{"type":"text","text":"c"}]}`, func(*protocol.Result) {}, []string{"c"}},
		"repeated, untouched":  {repeated, repeated, func(*protocol.Result) {}, nil},
		"repeated, another":    {repeated, `{"content":[{"type":"text","text":"{\"k\":2}"}],"structuredContent":{"k":2}}`, change(0, `{"k":2}`), nil},
		"repeated, text":       {repeated, `{"content":[{"type":"text","text":"***"}]}`, change(0, "***"), nil},
		"repeated, gone":       {repeated, `{"content":[]}`, func(r *protocol.Result) { r.Content = nil }, nil},
		"repeated, one more":   {repeated, `{"content":[{"type":"text","text":"{\"k\": 1}"},{"type":"text","text":"n"}],"structuredContent":{ "k":1 }}`, func(r *protocol.Result) { r.Content = append(r.Content, protocol.TextContent("n")...) }, nil},
		"structured only":      {only, only, func(*protocol.Result) {}, nil},
		"structured, another":  {only, `{"content":[],"structuredContent":{"z":3}}`, change(0, `{"z":3}`), nil},
		"structured, text":     {only, `{"content":[{"type":"text","text":"***"}]}`, change(0, "***"), nil},
		"structured, gone":     {noContent, `{"content":[]}`, func(r *protocol.Result) { r.Content = nil }, nil},
		"structured, replaced": {noContent, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, func(r *protocol.Result) { r.Content = append(protocol.TextContent("a"), protocol.TextContent("b")...) }, nil},
	} {
		r := readResult(&methods[0].result, []byte(test.raw), nil)
		decided := r.shown
		decided.Content = append(protocol.Content(nil), r.shown.Content...)
		test.edit(&decided)
		got, err := r.write(decided, test.texts)
		if err != nil || string(got) != test.want {
			t.Errorf("%s:\n got  %s %v\n want %s", name, got, err, test.want)
		}
	}
	r := readResult(&methods[0].result, []byte(only), nil)
	if _, err := r.write(protocol.Result{Content: protocol.Content{{Type: protocol.PartThinking, Text: "x"}}}, nil); err == nil {
		t.Error("a thought became content of MCP")
	}
}

// Whatever a client asks and a server answers: args are written so that they are read again,
// and a result that no hook changed keeps its bytes.
func FuzzMethods(f *testing.F) {
	f.Add([]byte(`{"uri":"a","name":"b","arguments":{"c":1.0},"_meta":{}}`), []byte(`{"contents":[{"uri":"a","blob":"AA==","mimeType":"image/png"}],"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"content":[{"type":"text","text":"{}"}],"structuredContent":{}}`))
	f.Fuzz(func(t *testing.T, params, answer []byte) {
		options := &Options{Server: "s"}
		g := &guard{options: options, prefix: "mcp__s__", tools: newTools(options)}
		for _, how := range methods {
			m := &relay.Message{Params: params, Strict: jsonspan.Valid(params)}
			if read, err := how.params(m); err == nil {
				if tool, args, err := how.read(g, read); err == nil {
					written := how.write(read, args)
					again, same, err := how.read(g, written)
					if err != nil || again != tool || !jsonspan.Equal(same, args) || !jsonspan.Valid(written) {
						t.Errorf("%s: %s with %s became %s, %v", how.name, read, args, written, err)
					}
				}
			}
			r := resultOfCall(&call{asked: asked{method: how}}, answer)
			if r.unclear != "" || jsonspan.Kind(jsonspan.Get(r.raw, how.result.list)) != '[' {
				continue
			}
			result := readResult(&how.result, r.raw, []byte(`{"uri":"a"}`))
			back, err := result.write(result.shown, nil)
			if err != nil || string(back) != string(r.raw) {
				t.Errorf("%s: %s became %s %v", how.name, r.raw, back, err)
			}
			if _, err := protocol.Marshal(result.shown); err != nil {
				t.Errorf("%s: %s cannot be shown: %v", how.name, r.raw, err)
			}
		}
	})
}
