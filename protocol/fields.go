package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	case kindOf(value) != kind:
		return wrong(path, "%s where %s is expected", describe(value), kindName(RawMessage{kind}))
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
	if k := kindOf(value); value != nil && k != 't' && k != 'f' {
		return wrong(path, "%s where true or false is expected", describe(value))
	}
	return nil
}

func isWholeIfThere(value RawMessage, path string) error {
	if value == nil {
		return nil
	}
	if _, err := strconv.ParseInt(string(trimmed(value)), 10, 64); err != nil {
		return wrong(path, "%s where a whole number is expected", describe(value))
	}
	return nil
}

func checkTools(value RawMessage) error {
	if err := isKind(value, "", '['); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, e := range elements(value) {
		tool, path := value[e.start:e.end], "/"+strconv.Itoa(i)
		if err := isKind(tool, path, '{'); err != nil {
			return err
		}
		name := Member(tool, "name")
		if err := errors.Join(isKind(name, path+"/name", '"'), isKind(Member(tool, "description"), path+"/description", '"'),
			isKind(Member(tool, "schema"), path+"/schema", '{')); err != nil {
			return firstOf(err)
		}
		switch text := textOf(name); {
		case text == "":
			return wrong(path+"/name", "is empty")
		case seen[text]:
			return wrong(path+"/name", "%q is the name of two tools", shorten(text, 60))
		default:
			seen[text] = true
		}
	}
	return nil
}

func checkParams(value RawMessage) error {
	if err := isKind(value, "", '{'); err != nil {
		return err
	}
	if err := errors.Join(
		isWholeIfThere(Member(value, "maxTokens"), "/maxTokens"),
		isKindIfThere(Member(value, "temperature"), "/temperature", '0'),
		isKindIfThere(Member(value, "topP"), "/topP", '0'),
		isKindIfThere(Member(value, "stop"), "/stop", '['),
	); err != nil {
		return firstOf(err)
	}
	stop := Member(value, "stop")
	if stop == nil {
		return nil
	}
	for i, e := range elements(stop) {
		if err := isKind(stop[e.start:e.end], "/stop/"+strconv.Itoa(i), '"'); err != nil {
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
	if old != nil && Member(value, "isError") == nil {
		return wrong("/isError", "is missing")
	}
	content := Member(value, "content")
	if content == nil {
		return wrong("/content", "is missing")
	}
	if err := errors.Join(isBoolIfThere(Member(value, "isError"), "/isError"), isWholeIfThere(Member(value, "exitCode"), "/exitCode")); err != nil {
		return firstOf(err)
	}
	if kindOf(content) == '"' {
		return nil
	}
	if err := isKind(content, "/content", '['); err != nil {
		return err
	}
	for i, e := range elements(content) {
		if err := checkPart(content[e.start:e.end], "/content/"+strconv.Itoa(i), false); err != nil {
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
	if reason := Member(value, "finishReason"); reason != nil && !slices.Contains(finishReasons, textOf(reason)) {
		return wrong("/finishReason", "%s where one of stop tools length filtered error is expected", describe(reason))
	}
	message := Member(value, "message")
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
