package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	body, cut, found, err := cleanJSON(input, lim)
	if err != nil {
		return nil, err
	}
	if found.valid {
		value := trimmed(body)
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
		return nil, &DecodeError{Offset: cut + end, Err: errors.New("more text behind the JSON value")}
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
func cleanJSON(input []byte, lim DecodeLimits) (body []byte, cut int64, found scanned, err error) {
	if int64(len(input)) > lim.Size {
		return nil, 0, found, &DecodeError{Offset: lim.Size, Err: fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(input), lim.Size)}
	}
	body = bytes.TrimPrefix(input, byteOrderMark)
	cut = int64(len(input) - len(body))
	if found = strict(body, lim.Depth); found.valid {
		return body, cut, found, nil
	}
	if at := depthExceeded(body, lim.Depth); at >= 0 {
		return nil, 0, found, &DecodeError{Offset: cut + int64(at), Err: fmt.Errorf("%w: the limit is %d levels", ErrTooDeep, lim.Depth)}
	}
	if mended := replaceLoneSurrogates(body); len(mended) > 0 && &mended[0] != &body[0] {
		return mended, cut, strict(mended, lim.Depth), nil
	}
	return body, cut, found, nil
}

// decodeError makes a DecodeError of an error of the JSON library, whose offset
// and path are relative to base and prefix.
func decodeError(err error, prefix string, base int64) *DecodeError {
	e := libraryError(err, prefix, base)
	// Names and values of the input stand in both; they may be as long as it is.
	e.Path = shorten(e.Path, 1000)
	if text := e.Err.Error(); len(text) > 500 {
		e.Err = errors.New(shorten(text, 500))
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
			cause = fmt.Errorf("member %q is repeated", shorten(syntax.JSONPointer.LastToken(), 100))
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
		found = kindName(RawMessage{byte(e.JSONKind)})
	}
	if e.Err != nil {
		return fmt.Errorf("%s does not fit: %w", found, e.Err)
	}
	if e.GoType != nil {
		return fmt.Errorf("%s where %s is expected", found, typeName(e.GoType))
	}
	return fmt.Errorf("%s does not fit", found)
}

// DeeperThan reports whether a JSON value is nested deeper than limit levels.
func DeeperThan(v RawMessage, limit int) bool { return depthExceeded(v, limit) >= 0 }

// depthExceeded returns the offset of the first bracket that opens a level
// beyond limit, or -1.
func depthExceeded(b []byte, limit int) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '{', '[':
			if depth++; depth > limit {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// replaceLoneSurrogates replaces each \uD800 to \uDFFF escape that is not half
// of a pair by \ufffd. Without one it returns b itself, else a copy.
func replaceLoneSurrogates(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\ud`)) && !bytes.Contains(b, []byte(`\uD`)) {
		return b
	}
	copied := false
	for i := 0; i < len(b)-1; {
		if b[i] != '\\' {
			i++
			continue
		}
		high, ok := surrogate(b, i)
		if !ok {
			i += 2
			continue
		}
		if low, ok := surrogate(b, i+6); high < 0xDC00 && ok && low >= 0xDC00 {
			i += 12
			continue
		}
		if !copied {
			b, copied = bytes.Clone(b), true
		}
		copy(b[i:], `\ufffd`)
		i += 6
	}
	return b
}

// surrogate reads the escape at b[i] if it is one of a surrogate.
func surrogate(b []byte, i int) (rune, bool) {
	r, ok := hex4(b, i)
	return r, ok && r >= 0xD800 && r <= 0xDFFF
}

// hex4 reads the escape at b[i] if it is one of four hexadecimal digits.
func hex4(b []byte, i int) (r rune, ok bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	for _, c := range b[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// validText returns text with invalid UTF-8 replaced by U+FFFD.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\ufffd")
}
