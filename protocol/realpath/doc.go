// Package realpath finds out which file a path leads to, whatever it is called: links
// are followed, and of a file with several names the others are looked for. OfCall tells
// an event about the call of a tool (event.go), for hosts that do not say it.
package realpath
