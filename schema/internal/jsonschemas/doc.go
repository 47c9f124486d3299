// Package jsonschemas makes the JSON Schemas of what comes from outside, and of the
// outcome that a host reads, from the Go types. Only the generator and the test that
// the committed files are fresh import it, so that hookd itself does not carry the
// library.
package jsonschemas
