// Package discover finds the hooks and resources of each layer and describes them.
//
// A [Scanner] goes through the scopes (layerscan.go). It lists the hooks folder
// (folder.go; skippednames.go says which names are never hooks), reads headers
// (header.go) and side files (sidefile.go), adds the entries of the settings and
// what trust records know, and seals the bundle of each hook (bundles.go). Skills and
// recipes are found by resources.go, MCP servers by servers.go, which fills in
// variables (variables.go). strayfiles.go reports files that were probably meant for
// hookd and that it does not read. waitingguard.go makes the stand-in for guards that
// settings name which nobody allowed yet. All of this runs nothing.
//
// A [Describer] (describer.go) asks programs that describe themselves nowhere else. It
// takes [trust.Allowed], so that nothing is asked before it was decided about. Answers
// are kept on disk by the hash of the bundle, except those of the machine's hooks,
// which count only within the process that asked.
package discover
