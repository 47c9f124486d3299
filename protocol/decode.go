package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
)

// Defaults of the limits on what is read (hooks.limits).
const (
	DefaultEventSize   = 32 << 20 // bytes of one event
	DefaultReplySize   = 1 << 20  // bytes of a hook's stdout
	DefaultContextSize = 64 << 10 // bytes of context per event
	DefaultDepth       = 512      // nesting of objects and lists
)

// DecodeLimits bound what is decoded. A zero field stands for its default.
type DecodeLimits struct {
	Size  int64 // bytes
	Depth int   // nesting of objects and lists
}

func (l DecodeLimits) orDefault(size int64) DecodeLimits {
	if l.Size <= 0 {
		l.Size = size
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	return l
}

// DecodeError is JSON that cannot be read, or that does not fit.
type DecodeError struct {
	Path   string // JSON Pointer of the member, "" for the whole
	Offset int64  // bytes from the beginning of the input, -1 if unknown
	Err    error
}

func (e *DecodeError) Error() string {
	var at []string
	if e.Path != "" {
		at = append(at, "at "+e.Path)
	}
	if e.Offset >= 0 {
		at = append(at, fmt.Sprintf("byte %d", e.Offset))
	}
	if len(at) == 0 {
		return e.Err.Error()
	}
	return strings.Join(at, ", ") + ": " + e.Err.Error()
}

func (e *DecodeError) Unwrap() error { return e.Err }

// ErrTooLarge and ErrTooDeep are wrapped by the [DecodeError] of an input over
// its limit.
var (
	ErrTooLarge = errors.New("too large")
	ErrTooDeep  = errors.New("nested too deeply")
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// strictJSON checks that input is exactly one JSON value: valid UTF-8, no
// repeated member names, within the limits. It returns the value without a byte
// order mark and without blanks around it. input itself is never written to.
func strictJSON(input []byte, lim DecodeLimits) (RawMessage, error) {
	body, cut, _, valid, err := cleanJSON(input, lim)
	if err != nil {
		return nil, err
	}
	if valid {
		value := jsonspan.Trim(body)
		return value[:len(value):len(value)], nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	value, err := dec.ReadValue()
	if err != nil {
		return nil, decodeError(err, "", cut)
	}
	start := dec.InputOffset() - int64(len(value))
	end := dec.InputOffset()
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, &DecodeError{Offset: cut + end, Err: errors.New("more text after the JSON value")}
	}
	return body[start:end:end], nil
}

// cleanJSON removes a byte order mark, holds the limits and mends surrogates. cut
// is the length of what was removed from the beginning. What is not valid after
// that is left to the caller to explain.
//
// An escape that is half of a surrogate pair is legal JSON, but no text: it is
// replaced by \ufffd, the replacement character, so that what hookd passes on is
// always valid UTF-8 once decoded. The replacement is as long as what it
// replaces, so offsets stay true.
func cleanJSON(input []byte, lim DecodeLimits) (body []byte, cut int64, members []jsonspan.Member, valid bool, err error) {
	if int64(len(input)) > lim.Size {
		return nil, 0, nil, false, &DecodeError{Offset: lim.Size, Err: fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(input), lim.Size)}
	}
	body = bytes.TrimPrefix(input, byteOrderMark)
	cut = int64(len(input) - len(body))
	if members, valid = jsonspan.ScanObject(body, lim.Depth); valid {
		return body, cut, members, true, nil
	}
	if at := jsonspan.DepthExceeded(body, lim.Depth); at >= 0 {
		return nil, 0, nil, false, &DecodeError{Offset: cut + int64(at), Err: fmt.Errorf("%w: the limit is %d levels", ErrTooDeep, lim.Depth)}
	}
	if mended := jsonspan.ReplaceLoneSurrogates(body); len(mended) > 0 && &mended[0] != &body[0] {
		members, valid = jsonspan.ScanObject(mended, lim.Depth)
		return mended, cut, members, valid, nil
	}
	return body, cut, nil, false, nil
}

// decodeError makes a DecodeError of an error of the JSON library, whose offset
// and path are relative to base and prefix.
func decodeError(err error, prefix string, base int64) *DecodeError {
	e := libraryError(err, prefix, base)
	// Names and values of the input stand in both; they may be as long as it is.
	e.Path = text.Shorten(e.Path, 1000)
	if words := e.Err.Error(); len(words) > 500 {
		e.Err = errors.New(text.Shorten(words, 500))
	}
	return e
}

func libraryError(err error, prefix string, base int64) *DecodeError {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	var ours *DecodeError
	switch {
	case errors.As(err, &ours):
		e := *ours
		e.Path = prefix + e.Path
		if e.Offset >= 0 {
			e.Offset += base
		}
		return &e
	case errors.As(err, &syntax):
		cause := syntax.Err
		switch {
		case cause == io.ErrUnexpectedEOF:
			cause = errors.New("the JSON ends too early")
		case cause == io.EOF:
			cause = errors.New("no JSON value")
		case cause == jsontext.ErrDuplicateName:
			cause = fmt.Errorf("member %q is repeated", text.Shorten(syntax.JSONPointer.LastToken(), 100))
		}
		return &DecodeError{Path: prefix + string(syntax.JSONPointer), Offset: base + syntax.ByteOffset, Err: cause}
	case errors.As(err, &semantic):
		return &DecodeError{Path: prefix + string(semantic.JSONPointer), Offset: base + semantic.ByteOffset, Err: semanticCause(semantic)}
	case err == io.EOF:
		return &DecodeError{Path: prefix, Offset: base, Err: errors.New("no JSON value")}
	case err == io.ErrUnexpectedEOF:
		return &DecodeError{Path: prefix, Offset: -1, Err: errors.New("the JSON ends too early")}
	}
	return &DecodeError{Path: prefix, Offset: -1, Err: err}
}

// semanticCause says in plain words which value did not fit, without Go types.
func semanticCause(e *json.SemanticError) error {
	found := "this value"
	switch {
	case len(e.JSONValue) > 0 && len(e.JSONValue) <= 40:
		found = string(e.JSONValue)
	case e.JSONKind != 0:
		found = jsonspan.KindName(RawMessage{byte(e.JSONKind)})
	}
	if e.Err != nil {
		return fmt.Errorf("%s does not fit: %w", found, e.Err)
	}
	if e.GoType != nil {
		return fmt.Errorf("%s where %s is expected", found, typeName(e.GoType))
	}
	return fmt.Errorf("%s does not fit", found)
}
