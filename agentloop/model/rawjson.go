package model

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// rawJSON is a YAML value as JSON. Numbers keep their digits, so that a script
// can send a model's tool call with numbers no machine type holds.
type rawJSON struct{ json protocol.RawMessage }

func (r *rawJSON) UnmarshalYAML(node *yaml.Node) error {
	var out bytes.Buffer
	if err := writeJSON(&out, node, 0); err != nil {
		return err
	}
	r.json = out.Bytes()
	if !jsonspan.Valid(r.json) {
		return fmt.Errorf("line %d: a key stands twice", node.Line)
	}
	return nil
}

// Aliases may refer to what holds them, or multiply.
const (
	maxYAMLDepth = 200
	maxYAMLSize  = 32 << 20
)

func writeJSON(out *bytes.Buffer, node *yaml.Node, depth int) error {
	if depth > maxYAMLDepth || out.Len() > maxYAMLSize {
		return fmt.Errorf("line %d: more than %d deep or %d bytes", node.Line, maxYAMLDepth, maxYAMLSize)
	}
	switch node.Kind {
	case yaml.AliasNode:
		return writeJSON(out, node.Alias, depth+1)
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range node.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, item, depth+1); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case yaml.MappingNode:
		out.WriteByte('{')
		for i := 0; i+1 < len(node.Content); i += 2 {
			if i > 0 {
				out.WriteByte(',')
			}
			writeString(out, node.Content[i].Value)
			out.WriteByte(':')
			if err := writeJSON(out, node.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	default:
		return writeScalar(out, node)
	}
	return nil
}

func writeScalar(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Tag {
	case "!!null":
		out.WriteString("null")
	case "!!bool", "!!int", "!!float":
		if jsonspan.Valid(protocol.RawMessage(node.Value)) {
			out.WriteString(node.Value)
			return nil
		}
		var value any
		if err := node.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", node.Line, err)
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("line %d: %s has no JSON form", node.Line, node.Value)
		}
		out.Write(encoded)
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(node.Value)
		if err != nil {
			return fmt.Errorf("line %d: %w", node.Line, err)
		}
		writeString(out, string(data))
	default:
		// YAML takes a number that no float64 holds for a text.
		if value := protocol.RawMessage(node.Value); node.Style == 0 && jsonspan.Valid(value) && jsonspan.Kind(value) == '0' {
			out.WriteString(node.Value)
			return nil
		}
		writeString(out, node.Value)
	}
	return nil
}

func writeString(out *bytes.Buffer, text string) {
	encoded, _ := jsontext.AppendQuote(nil, text) // invalid UTF-8 becomes U+FFFD; nothing else can fail
	out.Write(encoded)
}

func paramsText(p protocol.Params) string {
	encoded, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}
