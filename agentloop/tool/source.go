package tool

// Source is where tools come from that are not there from the beginning, or not
// to the end: a server that is still starting, or has died.
type Source interface {
	// Tools are those that can be called now. It returns at once and may be
	// called from several goroutines. A tool that is gone from the list and is
	// called all the same says so itself.
	Tools() []Tool
}
