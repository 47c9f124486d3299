package mcp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/protocol"
)

func textPart(text string) protocol.Part { return protocol.Part{Type: protocol.PartText, Text: text} }

func TestReadResult(t *testing.T) {
	tests := map[string]struct {
		raw  string
		want protocol.Content
		err  string
	}{
		"nothing":        {raw: `{"content":[]}`, want: protocol.Content{textPart("the tool answered without content")}},
		"texts":          {raw: `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, want: protocol.Content{textPart("a"), textPart("b")}},
		"image":          {raw: `{"content":[{"type":"image","mimeType":"image/png","data":"QUJD"}]}`, want: protocol.Content{{Type: protocol.PartImage, MediaType: "image/png", Data: []byte(`"QUJD"`)}}},
		"no base64":      {raw: `{"content":[{"type":"image","mimeType":"image/png","data":"###"}]}`, want: protocol.Content{textPart("[an image, image/png, 0 bytes, which is not shown]")}},
		"other image":    {raw: `{"content":[{"type":"image","mimeType":"image/tiff","data":"QUJD"}]}`, want: protocol.Content{textPart("[an image, image/tiff, 3 bytes, which is not shown]")}},
		"audio":          {raw: `{"content":[{"type":"audio","mimeType":"audio/wav","data":"QUJDRA=="}]}`, want: protocol.Content{textPart("[audio, audio/wav, 6 bytes, which is not shown]")}},
		"link":           {raw: `{"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]}`, want: protocol.Content{textPart("[a link to a resource: file:///a, a]")}},
		"resource":       {raw: `{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"hello"}}]}`, want: protocol.Content{textPart("[the resource file:///a]\nhello")}},
		"picture":        {raw: `{"content":[{"type":"resource","resource":{"uri":"a","mimeType":"image/gif","blob":"QUJD"}}]}`, want: protocol.Content{{Type: protocol.PartImage, MediaType: "image/gif", Data: []byte(`"QUJD"`)}}},
		"binary":         {raw: `{"content":[{"type":"resource","resource":{"uri":"a","mimeType":"application/zip","blob":"QUJD"}}]}`, want: protocol.Content{textPart("[the resource a, application/zip, 3 bytes, which is not shown]")}},
		"no resource":    {raw: `{"content":[{"type":"resource"}]}`, want: protocol.Content{textPart("[an empty resource]")}},
		"told twice":     {raw: `{"content":[{"type":"text","text":"{ \"b\":1, \"a\":2 }"}],"structuredContent":{"a":2,"b":1}}`, want: protocol.Content{textPart(`{ "b":1, "a":2 }`)}},
		"both":           {raw: `{"content":[{"type":"text","text":"two rows"}],"structuredContent":[1,2]}`, want: protocol.Content{textPart("two rows"), textPart("[1,2]")}},
		"too long":       {raw: `{"content":[{"type":"text","text":"` + strings.Repeat("é", 60) + `"},{"type":"text","text":"more"}]}`, want: protocol.Content{textPart(strings.Repeat("é", 50)), textPart("[24 bytes of the result's text left out]")}},
		"digits differ":  {raw: `{"content":[{"type":"text","text":"{\"id\":12345678901234567890}"}],"structuredContent":{"id":12345678901234567891}}`, want: protocol.Content{textPart(`{"id":12345678901234567890}`), textPart(`{"id":12345678901234567891}`)}},
		"same number":    {raw: `{"content":[{"type":"text","text":"{\"x\":1.50}"}],"structuredContent":{"x":1.5}}`, want: protocol.Content{textPart(`{"x":1.50}`)}},
		"more of it":     {raw: `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1,"b":2}}`, want: protocol.Content{textPart(`{"a":1}`), textPart(`{"a":1,"b":2}`)}},
		"wrapped text":   {raw: `{"content":[{"type":"text","text":"hello\n"}],"structuredContent":{"result":"hello"}}`, want: protocol.Content{textPart("hello\n")}},
		"wrapped number": {raw: `{"content":[{"type":"text","text":"7"}],"structuredContent":{"result":7}}`, want: protocol.Content{textPart("7")}},
		"wrapped list":   {raw: `{"content":[{"type":"text","text":"a"},{"type":"text","text":"{\"n\": 1}"}],"structuredContent":{"result":["a",{"n":1}]}}`, want: protocol.Content{textPart("a"), textPart(`{"n": 1}`)}},
		"shorter list":   {raw: `{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":["a","b"]}}`, want: protocol.Content{textPart("a"), textPart(`{"result":["a","b"]}`)}},
		"empty list":     {raw: `{"content":[],"structuredContent":{"result":[]}}`, want: protocol.Content{textPart(`{"result":[]}`)}},
		"same, cut":      {raw: `{"content":[{"type":"text","text":"{\"a\":\"` + strings.Repeat("x", 100) + `\"}"}],"structuredContent":{"a":"` + strings.Repeat("x", 100) + `"}}`, want: protocol.Content{textPart(`{"a":"` + strings.Repeat("x", 94)), textPart("[8 bytes of the result's text left out]")}},
		"input required": {raw: `{"resultType":"input_required"}`, err: "it asks for input from a person or a model, which hookd does not offer to servers"},
		"task":           {raw: `{"resultType":"task"}`, err: `it is a result of type "task"`},
	}
	for name, test := range tests {
		got, err := readResult([]byte(test.raw), 100)
		if text := errorText(err); text != test.err {
			t.Errorf("%s: error %q, want %q", name, text, test.err)
		}
		if diff := cmp.Diff(test.want, got.Content); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzReadResult: whatever a server answers, a model gets something that fits,
// or an error.
func FuzzReadResult(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a\ud800"}],"structuredContent":{"a":1}}`))
	f.Add([]byte(`{"content":[{"type":"resource","resource":{"blob":"QUJD","mimeType":"image/png"}},{"type":"image"},null,7]}`))
	f.Add([]byte("{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}],\"isError\":true}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		result, err := readResult(raw, 64)
		if err != nil {
			return
		}
		total := 0
		for _, p := range result.Content {
			if total += len(p.Text); !utf8.ValidString(p.Text) {
				t.Errorf("invalid text %q", p.Text)
			}
		}
		if total > 64+80 || len(result.Content) == 0 {
			t.Errorf("%d bytes in %d parts", total, len(result.Content))
		}
		if _, err := protocol.Marshal(result); err != nil {
			t.Errorf("it cannot be written: %v", err)
		}
	})
}
