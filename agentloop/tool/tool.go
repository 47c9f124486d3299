// Package tool holds the tools that the agent loop offers to a model: the
// interface they share, the registry that checks their arguments, and the
// built-in ones, whose file access is confined to the project folder.
package tool

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
)

// Tool is something a model can call.
type Tool interface {
	// Describe says what the tool is; it always returns the same.
	Describe() Description

	// Run does the work. The args have been checked against the schema. What
	// the tool found out, failures of its subject included, is a Result; an
	// error means that there is no result, and is an [Error] where its kind
	// matters. Run obeys the context promptly and leaves nothing behind.
	Run(ctx context.Context, args protocol.RawMessage) (protocol.Result, error)
}

// Description is a tool as models and hooks see it.
type Description struct {
	protocol.Tool
	Kind   protocol.ToolKind
	Server string // of an MCP tool
}

// Error is why a call has no result, when that is more than "failed".
type Error struct {
	Kind protocol.CallErrorKind
	Text string // what the model reads
}

func (e *Error) Error() string { return e.Text }

// Typed returns a tool whose args are decoded into A, which has no other members
// than those. Where the description states no schema it is generated from A, so
// that the two cannot part. It panics on a type that no schema can be made of:
// the type is the program's own and fixed.
func Typed[A any](description Description, run func(ctx context.Context, args A) (protocol.Result, error)) Tool {
	if len(description.Schema) == 0 {
		description.Schema = schemaOf[A](description.Name)
	}
	return &typed[A]{description, run}
}

type typed[A any] struct {
	description Description
	run         func(ctx context.Context, args A) (protocol.Result, error)
}

func newTyped[A any](name, description string, kind protocol.ToolKind, run func(context.Context, A) (protocol.Result, error)) Tool {
	return Typed(Description{Tool: protocol.Tool{Name: name, Description: description}, Kind: kind}, run)
}

func schemaOf[A any](tool string) protocol.RawMessage {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", tool, err))
	}
	encoded, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("tool %s: %v", tool, err))
	}
	return encoded
}

func (t *typed[A]) Describe() Description { return t.description }

func (t *typed[A]) Run(ctx context.Context, args protocol.RawMessage) (protocol.Result, error) {
	var decoded A
	if err := json.Unmarshal(args, &decoded, json.RejectUnknownMembers(true)); err != nil {
		return protocol.Result{}, &Error{protocol.CallBadArgs, err.Error()}
	}
	return t.run(ctx, decoded)
}

// OK is a result that holds a text.
func OK(text string) protocol.Result {
	return protocol.Result{Content: protocol.TextContent(text)}
}

// Failed is a result that tells the model what is wrong with its subject.
func Failed(format string, args ...any) protocol.Result {
	return protocol.Result{Content: protocol.TextContent(fmt.Sprintf(format, args...)), IsError: true}
}

func ok(text string) (protocol.Result, error) {
	return OK(text), nil
}

func failed(format string, args ...any) (protocol.Result, error) {
	return Failed(format, args...), nil
}
