package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"go.yaml.in/yaml/v3"
)

// script is the file of a [Scripted] model.
type script struct {
	Name       string `yaml:"name"`       // of the model, as events show it
	ContextMax *int64 `yaml:"contextMax"` // size of the context window in tokens
	Turns      []turn `yaml:"turns"`      // one per model call
}

// turn is the answer to one model call.
type turn struct {
	Expect       []expectation  `yaml:"expect"`       // what the request must look like
	Thinking     string         `yaml:"thinking"`     // reasoning, streamed first
	Text         string         `yaml:"text"`         // the answer's text
	ToolCalls    []scriptedCall `yaml:"toolCalls"`    // all of this step
	Usage        *scriptedUsage `yaml:"usage"`        // absent: unknown
	FinishReason string         `yaml:"finishReason"` // default: tools if there are calls, else stop

	Pace    pace            `yaml:",inline"`
	Failure scriptedFailure `yaml:",inline"`

	line, number int
}

// pace is how fast a turn is streamed.
type pace struct {
	Delay      duration `yaml:"delay"`      // before the first chunk
	Chunk      int      `yaml:"chunk"`      // characters per delta; 0: all at once
	ChunkDelay duration `yaml:"chunkDelay"` // between two deltas
	Hang       bool     `yaml:"hang"`       // the call never ends by itself
}

// scriptedFailure is how a turn fails after what it says.
type scriptedFailure struct {
	Text       string   `yaml:"fail"`       // of the error; "": it does not fail
	Status     int      `yaml:"status"`     // the HTTP status that it stands for
	RetryAfter duration `yaml:"retryAfter"` // how long the server asks to wait
	Lost       bool     `yaml:"lost"`       // the connection was lost, which is worth another try
}

type scriptedCall struct {
	ID   string  `yaml:"id"` // default: call-TURN-N
	Name string  `yaml:"name"`
	Args rawJSON `yaml:"args"`
}

type scriptedUsage struct {
	InputTokens   *int64   `yaml:"inputTokens"`
	OutputTokens  *int64   `yaml:"outputTokens"`
	CachedTokens  *int64   `yaml:"cachedTokens"`
	ContextTokens *int64   `yaml:"contextTokens"`
	CostUSD       *float64 `yaml:"costUsd"`
}

func (u *scriptedUsage) callUsage(contextMax *int64) *protocol.CallUsage {
	return &protocol.CallUsage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CachedTokens: u.CachedTokens,
		ContextTokens: u.ContextTokens, ContextMax: contextMax, CostUSD: u.CostUSD,
	}
}

// duration is a time.Duration written as in settings: "500ms", or seconds.
type duration struct{ time.Duration }

func (d *duration) UnmarshalYAML(node *yaml.Node) error {
	var seconds float64
	if node.Decode(&seconds) == nil {
		d.Duration = time.Duration(seconds * float64(time.Second))
	} else if parsed, err := time.ParseDuration(node.Value); err == nil {
		d.Duration = parsed
	} else {
		return fmt.Errorf("line %d: %q is not a duration such as 500ms or 2s", node.Line, node.Value)
	}
	if d.Duration < 0 {
		return fmt.Errorf("line %d: a duration cannot be negative", node.Line)
	}
	return nil
}

var finishReasons = []string{"", "stop", "tools", "length", "filtered", "error"}

func decode(data []byte) (*script, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	var s script
	var root yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&root); err == nil {
		if err := checkForm(root.Content[0], reflect.TypeFor[script](), "the script", 0); err != nil {
			return nil, err
		}
	}
	if err := decoder.Decode(&s); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty; it needs turns")
	} else if err != nil {
		return nil, plainYAML(err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file holds more than one document")
	}
	if len(s.Turns) == 0 {
		return nil, errors.New("the script has no turns")
	}
	lines := turnLines(data)
	for i := range s.Turns {
		s.Turns[i].number = i + 1
		if i < len(lines) {
			s.Turns[i].line = lines[i]
		}
		if err := s.Turns[i].check(); err != nil {
			return nil, fmt.Errorf("line %d: turn %d: %w", s.Turns[i].line, i+1, err)
		}
	}
	return &s, nil
}

// check finds what the YAML types alone do not.
func (t *turn) check() error {
	if !slices.Contains(finishReasons, t.FinishReason) {
		return fmt.Errorf("finishReason %q is not one of stop, tools, length, filtered, error", t.FinishReason)
	}
	if t.Pace.Chunk < 0 {
		return errors.New("chunk cannot be negative")
	}
	if t.Failure.Text != "" && (t.Usage != nil || t.FinishReason != "") {
		return errors.New("a turn that fails has neither usage nor finishReason")
	}
	if t.Failure.Text == "" && t.Failure.served() {
		return errors.New("status, retryAfter and lost go with fail")
	}
	for i := range t.ToolCalls {
		if t.ToolCalls[i].Name == "" {
			return fmt.Errorf("tool call %d has no name", i+1)
		}
		if t.ToolCalls[i].Args.json == nil {
			t.ToolCalls[i].Args.json = []byte("{}")
		}
	}
	for i := range t.Expect {
		if err := t.Expect[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// served reports whether the failure stands for one of a model that is served over a
// network.
func (f *scriptedFailure) served() bool {
	return f.Status != 0 || f.RetryAfter.Duration != 0 || f.Lost
}

// turnLines finds the line on which each turn begins: the strict decoder does
// not tell.
func turnLines(data []byte) []int {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "turns" {
			continue
		}
		var lines []int
		for _, item := range root.Content[i+1].Content {
			lines = append(lines, item.Line)
		}
		return lines
	}
	return nil
}
