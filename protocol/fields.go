package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

// fieldError is what is wrong with a changed field, below the field's path.
type fieldError struct {
	path string
	err  error
}

func (e *fieldError) Error() string { return e.path + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

func wrong(path, format string, args ...any) error {
	return &fieldError{path, fmt.Errorf(format, args...)}
}

// checkField checks a changed value against the type of its field. old is what
// it was, nil if it was absent. The error's text begins with the path below the
// field, so that it can be put behind the field's own.
func checkField(t FieldType, old, value RawMessage, by HookInfo, checkArgs func(RawMessage) error) error {
	switch t {
	case TypeString:
		return isKind(value, "", '"')
	case TypeMessages:
		return checkMessages(old, value, by)
	case TypeMessage:
		return checkAnswer(old, value, by, "")
	case TypeTools:
		return checkTools(value)
	case TypeParams:
		return checkParams(value)
	case TypeArgs:
		if err := isKind(value, "", '{'); err != nil {
			return err
		}
		if checkArgs != nil {
			if err := checkArgs(value); err != nil {
				return &fieldError{"", err}
			}
		}
		return nil
	case TypeResult:
		return checkResult(old, value)
	case TypeResponse:
		return checkResponse(value, by)
	}
	return wrong("", "no check for a field of type %q", t)
}

// isKind checks the kind of a value that must be there.
func isKind(value RawMessage, path string, kind byte) error {
	switch {
	case value == nil:
		return wrong(path, "is missing")
	case jsonspan.Kind(value) != kind:
		return wrong(path, "%s where %s is expected", jsonspan.Describe(value), jsonspan.KindName(RawMessage{kind}))
	}
	return nil
}

// isKindIfThere checks the kind of a value that may be absent.
func isKindIfThere(value RawMessage, path string, kind byte) error {
	if value == nil {
		return nil
	}
	return isKind(value, path, kind)
}

func isBoolIfThere(value RawMessage, path string) error {
	if k := jsonspan.Kind(value); value != nil && k != 't' && k != 'f' {
		return wrong(path, "%s where true or false is expected", jsonspan.Describe(value))
	}
	return nil
}

func isWholeIfThere(value RawMessage, path string) error {
	if value == nil {
		return nil
	}
	if _, err := strconv.ParseInt(string(jsonspan.Trim(value)), 10, 64); err != nil {
		return wrong(path, "%s where a whole number is expected", jsonspan.Describe(value))
	}
	return nil
}

func checkTools(value RawMessage) error {
	if err := isKind(value, "", '['); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, e := range jsonspan.Elements(value) {
		tool, path := e, "/"+strconv.Itoa(i)
		if err := isKind(tool, path, '{'); err != nil {
			return err
		}
		name := jsonspan.Get(tool, "name")
		if err := errors.Join(isKind(name, path+"/name", '"'), isKind(jsonspan.Get(tool, "description"), path+"/description", '"'),
			isKind(jsonspan.Get(tool, "schema"), path+"/schema", '{')); err != nil {
			return firstOf(err)
		}
		switch word := jsonspan.Text(name); {
		case word == "":
			return wrong(path+"/name", "is empty")
		case seen[word]:
			return wrong(path+"/name", "%q is the name of two tools", text.Shorten(word, 60))
		default:
			seen[word] = true
		}
	}
	return nil
}

func checkParams(value RawMessage) error {
	if err := isKind(value, "", '{'); err != nil {
		return err
	}
	if err := errors.Join(
		isWholeIfThere(jsonspan.Get(value, "maxTokens"), "/maxTokens"),
		isKindIfThere(jsonspan.Get(value, "temperature"), "/temperature", '0'),
		isKindIfThere(jsonspan.Get(value, "topP"), "/topP", '0'),
		isKindIfThere(jsonspan.Get(value, "stop"), "/stop", '['),
	); err != nil {
		return firstOf(err)
	}
	stop := jsonspan.Get(value, "stop")
	if stop == nil {
		return nil
	}
	for i, e := range jsonspan.Elements(stop) {
		if err := isKind(e, "/stop/"+strconv.Itoa(i), '"'); err != nil {
			return err
		}
	}
	return nil
}

// checkResult checks a tool's result. In a result that replaces the tool isError
// may be absent, which is false; one that changes must keep it.
func checkResult(old, value RawMessage) error {
	if err := isKind(value, "", '{'); err != nil {
		return err
	}
	if old != nil && jsonspan.Get(value, "isError") == nil {
		return wrong("/isError", "is missing")
	}
	content := jsonspan.Get(value, "content")
	if content == nil {
		return wrong("/content", "is missing")
	}
	if err := errors.Join(isBoolIfThere(jsonspan.Get(value, "isError"), "/isError"), isWholeIfThere(jsonspan.Get(value, "exitCode"), "/exitCode")); err != nil {
		return firstOf(err)
	}
	if jsonspan.Kind(content) == '"' {
		return nil
	}
	if err := isKind(content, "/content", '['); err != nil {
		return err
	}
	for i, e := range jsonspan.Elements(content) {
		if err := checkPart(e, "/content/"+strconv.Itoa(i), false); err != nil {
			return err
		}
	}
	return nil
}

var finishReasons = []string{"stop", "tools", "length", "filtered", "error"}

func checkResponse(value RawMessage, by HookInfo) error {
	if err := isKind(value, "", '{'); err != nil {
		return err
	}
	if reason := jsonspan.Get(value, "finishReason"); reason != nil && !slices.Contains(finishReasons, jsonspan.Text(reason)) {
		return wrong("/finishReason", "%s where one of stop tools length filtered error is expected", jsonspan.Describe(reason))
	}
	message := jsonspan.Get(value, "message")
	if message == nil {
		return wrong("/message", "is missing")
	}
	return checkAnswer(nil, message, by, "/message")
}

// firstOf returns the first of several joined errors.
func firstOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}
