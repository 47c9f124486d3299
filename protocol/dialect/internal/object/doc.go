// Package object reads and writes the JSON objects by which agents and their hooks talk. A
// [Reader] gives the members of one that came, without an error for what is not there; an
// [Object] is written member by member, and leaves out what says nothing. content.go finds
// the text in what agents send as a content or as a tool's result.
package object
