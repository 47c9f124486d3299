// Package jsonspan works on the bytes of JSON values: it finds, compares and
// replaces parts of a document and leaves all other bytes as they are.
package jsonspan

import "github.com/go-json-experiment/json/jsontext"

// Kind returns the first byte of a JSON value: '{', '[', '"', 't', 'f' or 'n', and
// '0' for a number. It returns 0 for what is no JSON value.
func Kind(value []byte) byte { return byte(jsontext.Value(value).Kind()) }

// IsValid reports whether value is exactly one JSON value in valid UTF-8 without
// repeated member names.
func IsValid(value []byte) bool { return jsontext.Value(value).IsValid() }
