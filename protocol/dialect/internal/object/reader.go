package object

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Reader reads the members of a JSON object.
type Reader struct{ JSON protocol.RawMessage }

// At returns the value at a JSON Pointer, nil if there is none.
func (r *Reader) At(pointer string) protocol.RawMessage {
	if !strings.HasPrefix(pointer, "/") {
		pointer = "/" + pointer
	}
	return jsonspan.Find(r.JSON, pointer)
}

// Text returns the string at a JSON Pointer, empty if there is none.
func (r *Reader) Text(pointer string) string {
	value := r.At(pointer)
	if jsonspan.Kind(value) != '"' {
		return ""
	}
	return jsonspan.Text(value)
}

// First returns the first of several members that is a string and not empty.
func (r *Reader) First(names ...string) string {
	for _, name := range names {
		if s := r.Text(name); s != "" {
			return s
		}
	}
	return ""
}

// Is reports whether the value at a JSON Pointer is true.
func (r *Reader) Is(pointer string) bool { return string(r.At(pointer)) == "true" }

// Need returns the string at a JSON Pointer, or an error that names it. An empty string
// is a string.
func (r *Reader) Need(pointer string) (string, error) {
	value := r.At(pointer)
	if jsonspan.Kind(value) != '"' {
		return "", fmt.Errorf("%s is missing or no string", pointer)
	}
	return jsonspan.Text(value), nil
}

// Any returns the first of several members that is there.
func (r *Reader) Any(names ...string) protocol.RawMessage {
	for _, name := range names {
		if value := r.At(name); value != nil {
			return value
		}
	}
	return nil
}

// Number returns the number at a JSON Pointer, 0 if there is none.
func (r *Reader) Number(pointer string) float64 {
	var n float64
	if value := r.At(pointer); jsonspan.Kind(value) == '0' && json.Unmarshal(value, &n) == nil {
		return n
	}
	return 0
}
