package mcpproxy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// Hooks judge what a read brings. What they withhold, and what they cannot read, is an error.
func TestResultsOfReads(t *testing.T) {
	everyRead(t, func(t *testing.T, r read, params, _ string) {
		end := dialogue.HookOn(protocol.ToolCallEnd, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			data, err := protocol.ReadData[protocol.ToolCallEndData](ev)
			result := func(edit func(*protocol.Result)) (protocol.Reply, error) {
				return protocol.ModifyData(ev, func(d *protocol.ToolCallEndData) error { edit(&d.Result); return nil })
			}
			switch text := data.Result.Content.Text(); {
			case strings.Contains(text, "secret"):
				return protocol.BlockReply("that is a secret"), err
			case strings.Contains(text, "crash"):
				return protocol.Reply{}, errors.New("crash")
			case strings.Contains(text, "private"):
				return result(func(r *protocol.Result) { r.Content[0].Text = "***\n" })
			case strings.Contains(text, "bad"):
				return result(func(r *protocol.Result) { r.IsError, r.Content = true, protocol.TextContent("it is bad") })
			case strings.Contains(text, "thought"):
				return result(func(r *protocol.Result) { r.Content = protocol.Content{{Type: protocol.PartThinking, Text: "x"}} })
			case strings.Contains(text, "told"):
				return protocol.Reply{Context: "seen"}, err
			}
			return protocol.Reply{}, err
		})
		failed := dialogue.HookOn(protocol.ToolCallError, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
			return protocol.ModifyData(ev, func(data *protocol.ToolCallErrorData) error { data.Error.Text = "hidden"; return nil })
		})
		s := newStage(t, end, failed)
		result := func(rest string) string { return `{"jsonrpc":"2.0","id":1,"result":{` + rest + `}}` }
		context := map[string]string{
			"contents": `,{"uri":"w","text":"[context from hook h]\nseen"}]`,
			"messages": `,{"role":"user","content":{"type":"text","text":"[context from hook h]\nseen"}}]`,
		}[r.list]
		for name, test := range map[string]struct{ answer, want string }{
			"passes":        {r.answer("1", `"\u0061"`, ""), r.answer("1", `"\u0061"`, "")},
			"nothing":       {result(`"` + r.list + `" : [ ]`), result(`"` + r.list + `" : [ ]`)},
			"withheld":      {r.answer("1", `"a secret"`, ""), refusedLine("1", "that is a secret")},
			"not judged":    {r.answer("1", `"crash"`, ""), refusedLine("1", "blocked: the check h could not be made (exit)")},
			"changed":       {r.answer("1", `"private"`, ""), r.answer("1", `"***\n"`, "")},
			"now an error":  {r.answer("1", `"bad"`, ""), refusedLine("1", "it is bad")},
			"told":          {r.answer("1", `"told"`, ""), strings.Replace(r.answer("1", `"told"`, ""), `]`, context, 1)},
			"no content":    {r.answer("1", `"thought"`, ""), refusedLine("1", `the result was withheld: a part of type \"thinking\" cannot be written as content of MCP`)},
			"an error":      {`{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"a path","data":[1.0]}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"hidden","data":[1.0]}}`},
			"twice":         {result(`"` + r.list + `":[],"` + r.list + `":[]`), refusedLine("1", "hidden")},
			"in other case": {result(`"` + r.list + `":[],"` + strings.ToUpper(r.list) + `":[]`), refusedLine("1", "hidden")},
			"an odd text":   {strings.Replace(r.answer("1", `"a"`, ""), `,"n":1.0`, `,"Text":"a secret"`, 1), refusedLine("1", "hidden")},
			"no list":       {result(`"` + r.list + `":{"text":"x"}`), refusedLine("1", "hidden")},
			"another list":  {result(`"content":[{"type":"text","text":"x"}]`), refusedLine("1", "hidden")},
			"odd items":     {result(`"` + r.list + `":["x"]`), refusedLine("1", "hidden")},
			"an odd type":   {r.answer("1", `"a"`, `,"resultType":"task","taskId":"x"`), refusedLine("1", "hidden")},
			"both at once":  {r.answer("1", `"a secret"`, `,"resultType":"input_required"`), refusedLine("1", "hidden")},
			"half a pair":   {r.answer("1", `"private\ud800"`, ""), r.answer("1", `"***\n"`, "")},
		} {
			s.Say(s.Client, r.line("1", "w", params))
			s.Next(s.ToServer)
			s.Say(s.Server, test.answer)
			if got := s.Next(s.ToClient); got != test.want {
				t.Errorf("%s:\n got  %s\n want %s", name, got, test.want)
			}
		}
	})
}

// Results that hooks cannot judge pass where no hook judges results.
func TestUnreadableReadsThatNobodyJudges(t *testing.T) {
	s := newStage(t)
	for _, r := range reads {
		for _, rest := range []string{`"` + r.list + `":7`, `"a":1,"a":2`, `"resultType":"odd"`} {
			s.Say(s.Client, r.line("1", "w", `"x":1`))
			s.Next(s.ToServer)
			s.Say(s.Server, `{"jsonrpc":"2.0","id":1,"result":{`+rest+`}}`)
			s.Read(s.ToClient, `{"jsonrpc":"2.0","id":1,"result":{`+rest+`}}`)
		}
	}
}

// What hooks changed of each kind of item is written to where they read it.
func TestWriteBackOfReads(t *testing.T) {
	const (
		blobs    = `{ "contents":[{"uri":"a","blob":"AA==","mimeType":"application/pdf","n":1.0} , {"uri":"b","blob":"AA==","mimeType":"image/png"},{"uri":"c","text":"t","blob":"AA=="}],"n":1e2}`
		messages = `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"r","text":"t","n":1.0}},"m":1}, {"content":{"type":"audio","data":"AA==","mimeType":"audio/wav"},"role":"user"},{"role":"user","content":{"type":"resource_link","uri":"l","name":"n"}}],"description":"d"}`
	)
	resource, prompt := &methods[1].result, &methods[2].result
	text := func(text string) protocol.Part { return protocol.Part{Type: protocol.PartText, Text: text} }
	image := protocol.Part{Type: protocol.PartImage, MediaType: "image/gif", Data: []byte(`"BB=="`)}
	for name, test := range map[string]struct {
		shape *shape
		raw   string
		edit  func(c protocol.Content) protocol.Content
		was   string // what is replaced
		is    string
	}{
		"nothing":             {resource, blobs, func(c protocol.Content) protocol.Content { return c }, "", ""},
		"a blob is a text":    {resource, blobs, func(c protocol.Content) protocol.Content { c[0] = text("x"); return c }, `{"uri":"a","blob":"AA==","mimeType":"application/pdf","n":1.0}`, `{"uri":"a","n":1.0,"text":"x"}`},
		"another image":       {resource, blobs, func(c protocol.Content) protocol.Content { c[1] = image; return c }, `{"uri":"b","blob":"AA==","mimeType":"image/png"}`, `{"uri":"b","blob":"BB==","mimeType":"image/gif"}`},
		"text and blob":       {resource, blobs, func(c protocol.Content) protocol.Content { c[2] = text("x"); return c }, `{"uri":"c","text":"t","blob":"AA=="}`, `{"uri":"c","text":"x"}`},
		"an item goes":        {resource, blobs, func(c protocol.Content) protocol.Content { return c[1:] }, `{"uri":"a","blob":"AA==","mimeType":"application/pdf","n":1.0} , `, ``},
		"an item comes":       {resource, blobs, func(c protocol.Content) protocol.Content { return append(c, text("x")) }, `"blob":"AA=="}]`, `"blob":"AA=="},{"uri":"asked","text":"x"}]`},
		"another opaque":      {resource, blobs, func(c protocol.Content) protocol.Content { c[0].Data = []byte(`{"uri":"z","blob":""}`); return c }, `{"uri":"a","blob":"AA==","mimeType":"application/pdf","n":1.0}`, `{"uri":"z","blob":""}`},
		"messages":            {prompt, messages, func(c protocol.Content) protocol.Content { return c }, "", ""},
		"text of a resource":  {prompt, messages, func(c protocol.Content) protocol.Content { c[0].Text = "x"; return c }, `"text":"t"`, `"text":"x"`},
		"a sound is a text":   {prompt, messages, func(c protocol.Content) protocol.Content { c[1] = text("x"); return c }, `{"type":"audio","data":"AA==","mimeType":"audio/wav"}`, `{"type":"text","text":"x"}`},
		"a sound is an image": {prompt, messages, func(c protocol.Content) protocol.Content { c[1] = image; return c }, `{"type":"audio","data":"AA==","mimeType":"audio/wav"}`, `{"type":"image","data":"BB==","mimeType":"image/gif"}`},
		"another link": {prompt, messages, func(c protocol.Content) protocol.Content {
			c[2].Data = []byte(`{"type":"resource_link","uri":"m"}`)
			return c
		}, `{"type":"resource_link","uri":"l","name":"n"}`, `{"type":"resource_link","uri":"m"}`},
	} {
		r := readResult(test.shape, []byte(test.raw), []byte(`{"uri":"asked"}`))
		decided := r.shown
		decided.Content = test.edit(append(protocol.Content(nil), r.shown.Content...))
		got, err := r.write(decided, nil)
		want := test.raw
		if test.was != "" {
			want = strings.Replace(want, test.was, test.is, 1)
		}
		if want == test.raw && test.was != "" {
			t.Fatalf("%s: nothing is to change", name)
		}
		if jsonspan.Canonical(got) != jsonspan.Canonical([]byte(want)) || !strings.Contains(string(got), test.is) || err != nil {
			t.Errorf("%s:\n got  %s %v\n want %s", name, got, err, want)
		}
	}
	kinds := ""
	for _, raw := range []string{blobs, messages} {
		shape := resource
		if raw == messages {
			shape = prompt
		}
		for _, part := range readResult(shape, []byte(raw), nil).shown.Content {
			kinds += string(part.Type) + " "
		}
	}
	if kinds != "opaque image opaque text opaque opaque " {
		t.Error(kinds)
	}
}

// A read that its server asks to be sent again is judged once, and goes on as hooks left it.
// It does not go on as the read of something else.
func TestReadsThatNeedInput(t *testing.T) {
	asked := 0
	s := newStage(t, dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
		asked++
		return protocol.ModifyArgs(ev, func(args *map[string]any) error {
			for _, member := range []string{"uri", "name"} {
				if (*args)[member] != nil {
					(*args)[member] = "changed"
				}
			}
			return nil
		})
	}))
	const more = newest + `,"inputResponses":{"k":{}},"requestState":"s"`
	for _, r := range reads {
		asked = 0
		needs := func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"result":{"resultType":"input_required","inputRequests":{"k":{}},"requestState":"s","` + r.list + `":[]}}`
		}
		s.Say(s.Client, r.line("1", "a", newest))
		s.Read(s.ToServer, r.line("1", "changed", newest))
		s.Say(s.Server, needs("1"))
		s.Read(s.ToClient, needs("1"))
		s.Say(s.Client, r.line("2", "a", more))
		s.Read(s.ToServer, r.line("2", "changed", more))
		if asked != 1 {
			t.Errorf("%s: hooks were asked %d times", r.method, asked)
		}
		s.Say(s.Server, needs("2"))
		s.Read(s.ToClient, needs("2"))
		for i, line := range []string{r.line("3", "b", more), r.line("4", "a", newest)} {
			s.Say(s.Client, line)
			s.Next(s.ToServer)
			if asked != i+2 {
				t.Errorf("%s was not judged", line)
			}
		}
		s.Say(s.Client, r.line("5", "a", more)) // still what the server asked about in its second answer
		s.Next(s.ToServer)
		if asked != 3 {
			t.Errorf("%s: hooks were asked %d times", r.method, asked)
		}
		for _, id := range []string{"3", "4", "5"} {
			s.Say(s.Server, r.answer(id, `"a"`, ""))
			s.Next(s.ToClient)
		}
	}
}
