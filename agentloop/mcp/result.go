package mcp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// mostImages bounds the images of one result, in bytes of base64.
const mostImages = 8 << 20

// imageTypes are those that models take.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

type wireResult struct {
	ResultType string              `json:"resultType"`
	Content    []wireContent       `json:"content"`
	Structured protocol.RawMessage `json:"structuredContent"`
	IsError    bool                `json:"isError"`
}

type wireContent struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	MIMEType    string `json:"mimeType"`
	Data        string `json:"data"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Resource    *struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
		Blob     string `json:"blob"`
	} `json:"resource"`
}

// readResult makes a result that a model can read of what a server answered.
// What a model cannot take is described in its place.
func readResult(raw protocol.RawMessage, mostText int) (protocol.Result, error) {
	var answer wireResult
	if err := json.Unmarshal(raw, &answer, wire.Lenient); err != nil {
		return protocol.Result{}, protocol.PlainError(err)
	}
	switch answer.ResultType {
	case "", "complete":
	case "input_required":
		return protocol.Result{}, errors.New("it asks for input from a person or a model, which hookd does not offer to servers")
	default:
		return protocol.Result{}, fmt.Errorf("it is a result of type %q", wire.Clip(answer.ResultType, 40))
	}
	r := resultReader{text: mostText, images: mostImages}
	var texts []string
	for i := range answer.Content {
		r.add(&answer.Content[i])
		if answer.Content[i].Type == "text" {
			texts = append(texts, answer.Content[i].Text)
		}
	}
	if structured := answer.Structured; len(structured) > 0 && jsonspan.Kind(structured) != 'n' && !repeats(texts, structured) {
		r.addText(string(structured))
	}
	if r.cut > 0 {
		r.parts = append(r.parts, protocol.Part{Type: protocol.PartText, Text: fmt.Sprintf("[%d bytes of the result's text left out]", r.cut)})
	}
	if len(r.parts) == 0 {
		r.parts = protocol.TextContent("the tool answered without content")
	}
	return protocol.Result{Content: r.parts, IsError: answer.IsError}, nil
}

type resultReader struct {
	parts        protocol.Content
	text, images int // bytes that may still come
	cut          int
}

func (r *resultReader) add(c *wireContent) {
	switch c.Type {
	case "text":
		r.addText(c.Text)
	case "image":
		r.addImage(c.MIMEType, c.Data, "an image")
	case "audio":
		r.describe("audio", c.MIMEType, len(c.Data))
	case "resource_link":
		r.addText("[a link to a resource: " + joined(c.URI, c.Name, c.Description) + "]")
	case "resource":
		switch e := c.Resource; {
		case e == nil:
			r.addText("[an empty resource]")
		case e.Blob != "":
			r.addImage(e.MIMEType, e.Blob, "the resource "+e.URI)
		default:
			r.addText("[the resource " + e.URI + "]\n" + e.Text)
		}
	default:
		r.addText(fmt.Sprintf("[content of type %q, which is not shown]", wire.Clip(c.Type, 40)))
	}
}

// addText keeps a text as far as there is room.
func (r *resultReader) addText(text string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	kept := wire.Clip(text, r.text)
	r.text -= len(kept)
	r.cut += len(text) - len(kept)
	if kept != "" {
		r.parts = append(r.parts, protocol.Part{Type: protocol.PartText, Text: kept})
	}
}

func (r *resultReader) addImage(mediaType, data, what string) {
	_, err := base64.StdEncoding.DecodeString(data)
	if err != nil || data == "" || len(data) > r.images || !slices.Contains(imageTypes, mediaType) {
		r.describe(what, mediaType, len(data))
		return
	}
	encoded, err := jsontext.AppendQuote(nil, data)
	if err != nil { // it is base64
		r.describe(what, mediaType, len(data))
		return
	}
	r.images -= len(data)
	r.parts = append(r.parts, protocol.Part{Type: protocol.PartImage, MediaType: mediaType, Data: encoded})
}

func (r *resultReader) describe(what, mediaType string, encoded int) {
	r.addText(fmt.Sprintf("[%s, %d bytes, which is not shown]", joined(what, wire.Clip(mediaType, 80)), base64.StdEncoding.DecodedLen(encoded)))
}

func joined(words ...string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return strings.Join(words, ", ")
}
