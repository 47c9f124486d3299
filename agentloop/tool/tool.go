package tool

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookd-dev/hookd/protocol"
)

// Tool is something that a model can call. [New] makes one of a function.
type Tool interface {
	// Describe says what the tool is; it always returns the same.
	Describe() Description

	// Run does the work. The args have been checked against the schema. What the tool
	// found out, failures of its subject included, is a Result; an error means that
	// there is no result, and is an [Error] if its kind matters. Run must return soon
	// after ctx is done and leave no process and no temporary file.
	Run(ctx context.Context, args protocol.RawMessage) (protocol.Result, error)
}

// Source is where tools come from that are not there from the beginning, or not to the
// end: a server that is still starting, or has died.
type Source interface {
	// Tools returns those that can be called now. It returns at once and may be called
	// from several goroutines. A tool that is gone from the list and is called all the
	// same says so itself.
	Tools() []Tool
}

// Description is a tool as models and hooks see it.
type Description struct {
	Name        string
	Description string              // for the model
	Schema      protocol.RawMessage // JSON Schema of the args; [New] makes it of the args' type
	Kind        protocol.ToolKind   // what it does to the world; hooks match it, and consent depends on it
	Server      string              // of an MCP tool
}

// Tool returns the description as a model sees it.
func (d Description) Tool() protocol.Tool {
	return protocol.Tool{Name: d.Name, Description: d.Description, Schema: d.Schema}
}

// Error is why a call has no result, when that is more than "failed".
type Error struct {
	Kind protocol.CallErrorKind
	Text string // what the model reads
}

func (e *Error) Error() string { return e.Text }

// New returns a tool whose args are decoded into A, a struct: members that it does not
// have are refused. If the description has no schema, it is made of A and of its tags
// json and jsonschema (the description of a member). If A is [protocol.RawMessage], run
// gets the args as they are. A Kind that is not set is [protocol.KindOther].
//
// New panics on a type of which no schema can be made: it is a mistake in the program.
func New[A any](description Description, run func(ctx context.Context, args A) (protocol.Result, error)) Tool {
	if len(description.Schema) == 0 && !isRaw[A]() {
		description.Schema = schemaOf[A](description.Name)
	}
	description.Kind = cmp.Or(description.Kind, protocol.KindOther)
	return &typed[A]{description, run}
}

type typed[A any] struct {
	description Description
	run         func(ctx context.Context, args A) (protocol.Result, error)
}

func isRaw[A any]() bool { return reflect.TypeFor[A]() == reflect.TypeFor[protocol.RawMessage]() }

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
	if raw, is := any(&decoded).(*protocol.RawMessage); is {
		*raw = args
	} else if err := json.Unmarshal(args, &decoded, json.RejectUnknownMembers(true)); err != nil {
		return protocol.Result{}, &Error{protocol.CallBadArgs, protocol.PlainError(err).Error()}
	}
	return t.run(ctx, decoded)
}

// OK returns a result that holds a text.
func OK(text string) protocol.Result {
	return protocol.Result{Content: protocol.TextContent(text)}
}

// Failed returns a result that tells the model what is wrong with its subject.
func Failed(format string, args ...any) protocol.Result {
	return protocol.Result{Content: protocol.TextContent(fmt.Sprintf(format, args...)), IsError: true}
}

func ok(text string) (protocol.Result, error) {
	return OK(text), nil
}

func failed(format string, args ...any) (protocol.Result, error) {
	return Failed(format, args...), nil
}
