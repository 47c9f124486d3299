// Package candidate holds what a load works on, as plain values: places, hooks and
// resources as they were found, before anything is decided about them.
//
// A [Scope] (scope.go) is one place that hooks and settings come from: the machine's
// folder, the user's, the project's, and that of each project above it. It carries
// what a person decided there and which settings are in force. A [Subject]
// (candidate.go) is what a person decides about; a [Hook] and a [Resource] (a skill,
// a recipe or an MCP server) are subjects. A [File] (file.go) is a file of a hooks
// folder as it was read.
//
// Package discover makes these values, package trust decides about them.
package candidate
