//go:build interop && unix

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// acpSDK is the package that the schema of the Agent Client Protocol is published in.
const acpSDK = "@agentclientprotocol/sdk@2.4.0"

// frameChecker holds frames against the published schema of version 1.
type frameChecker struct {
	types map[string]*jsonschema.Resolved // by side, method and kind of message
	asked map[string]string               // methods of requests, by who asked and id
}

func newFrameChecker(t *testing.T) *frameChecker {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(peer(t, acpSDK), "schema", "v1", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Defs map[string]*jsonschema.Schema `json:"$defs"`
	}
	var marks struct {
		Defs map[string]struct {
			Method string `json:"x-method"`
			Side   string `json:"x-side"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &marks); err != nil {
		t.Fatal(err)
	}
	c := &frameChecker{types: map[string]*jsonschema.Resolved{}, asked: map[string]string{}}
	for name, mark := range marks.Defs {
		if mark.Method == "" {
			continue
		}
		s := &jsonschema.Schema{Ref: "#/$defs/" + name, Defs: whole.Defs}
		resolved, err := s.CloneSchemas().Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kind := "params"
		if strings.HasSuffix(name, "Response") {
			kind = "result"
		}
		c.types[mark.Method+" "+kind] = resolved
	}
	return c
}

// check checks one frame. from is who said it.
func (c *frameChecker) check(from, text string) error {
	var m struct {
		ID             json.RawMessage
		Method         string
		Params, Result any
		Error          *struct {
			Code    *int
			Message *string
		}
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	other := map[string]string{"agent": "client", "client": "agent"}[from]
	switch {
	case m.Method != "":
		if m.ID != nil {
			c.asked[from+" "+string(m.ID)] = m.Method
		}
		return c.valid(m.Method+" params", m.Params)
	case m.Error != nil:
		if m.Error.Code == nil || m.Error.Message == nil {
			return fmt.Errorf("an error without code or message")
		}
		return nil
	}
	return c.valid(c.asked[other+" "+string(m.ID)]+" result", m.Result)
}

func (c *frameChecker) valid(name string, value any) error {
	if strings.HasPrefix(name, "_") || strings.HasPrefix(name, "$/") {
		return nil // an extension, or of no type that has a method
	}
	s := c.types[name]
	if s == nil {
		return fmt.Errorf("the schema has no %s", name)
	}
	if err := s.Validate(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
