package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// UnmarshalJSONFrom reads a list of parts, or a string as one text part.
func (c *Content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		var text string
		if err := json.UnmarshalDecode(dec, &text); err != nil {
			return err
		}
		*c = Content{{Type: PartText, Text: text}}
		return nil
	}
	var parts []Part
	if err := json.UnmarshalDecode(dec, &parts); err != nil {
		return err
	}
	*c = parts
	return nil
}

// TextContent is a content of one text part.
func TextContent(text string) Content { return Content{{Type: PartText, Text: text}} }

// Text joins the text parts of a content with newlines.
func (c Content) Text() string {
	text := ""
	for _, p := range c {
		if p.Type != PartText {
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += p.Text
	}
	return text
}
