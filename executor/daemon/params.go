package daemon

import (
	"context"
	"errors"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// empty is the result of a method that has nothing to say, and what missing params mean.
var empty = protocol.RawMessage(`{}`)

// read decodes params into a struct. The error's path points at the member.
func read(params protocol.RawMessage, into any) *rpc.Error {
	if len(params) == 0 {
		params = empty
	}
	if jsonspan.Kind(params) != '{' {
		return badParam("", "params must be an object")
	}
	if err := json.Unmarshal(params, into); err != nil {
		return badJSON(err)
	}
	return nil
}

func badParam(path, message string) *rpc.Error {
	return rpc.Errorf(rpc.InvalidParams, "%s", message).With("path", path)
}

// badJSON says where in params a value is wrong, and what would be right.
func badJSON(err error) *rpc.Error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		message := "is not a " + semantic.GoType.String()
		if semantic.Err != nil {
			message = semantic.Err.Error()
		} else if semantic.GoType != nil {
			message = "must be " + jsonName(semantic.GoType.Kind()) + ", not " + kindName(semantic.JSONKind)
		}
		return badParam(string(semantic.JSONPointer), where(string(semantic.JSONPointer))+message)
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return badParam(string(syntactic.JSONPointer), where(string(syntactic.JSONPointer))+syntactic.Err.Error())
	}
	return badParam("", err.Error())
}

func where(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

func quote(s string) string { return strconv.Quote(s) }
func itoa(n int) string     { return strconv.Itoa(n) }

// jsonName is what JSON calls the values of a Go kind.
func jsonName(kind reflect.Kind) string {
	switch kind {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an object"
}

// kindName is what a kind of JSON value is called in a message.
func kindName(kind jsontext.Kind) string {
	switch kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return "this number"
	case '[', ']':
		return "a list"
	case '{', '}':
		return "an object"
	}
	return "this"
}

// encode makes a result, with raw values as the bytes they are.
func encode(v any) (protocol.RawMessage, *rpc.Error) {
	b, err := protocol.Marshal(v)
	if err != nil {
		return nil, rpc.Errorf(rpc.InternalError, "internal error: encode the result: %v", err)
	}
	return b, nil
}

// cancelled returns the error of a call that was cancelled, with the cause.
func cancelled(ctx context.Context) *rpc.Error {
	return rpc.Errorf(rpc.Cancelled, "%v", context.Cause(ctx))
}

// Why work is cancelled.
var (
	errShutdown = errors.New("the daemon is shutting down")
	errAborted  = errors.New("the daemon was told to end at once")
	errEnding   = errors.New("the daemon is ending")

	errDisconnected = errors.New("the client has disconnected")
	errByClient     = errors.New("cancelled by the client")
)

// Errors of calls.
var (
	errUnknownSession = rpc.Errorf(rpc.UnknownSession, "unknown session")
	errDuplicate      = rpc.Errorf(rpc.InvalidRequest, "a request with this id is in flight")
)
