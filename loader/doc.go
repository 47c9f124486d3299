// Package loader finds the hooks and settings that rule a project and turns them
// into one immutable set for the executor.
//
// [Load] builds one [Snapshot]; [Watch] keeps one current while files change;
// [OpenTrust] is a person's side: looking at what would run, and deciding about it.
//
// # How a load goes
//
// All steps are in one function, snapshot in load.go. Each takes the values of
// the steps before it and returns values; its findings go into one report.
//
//   - internal/workspace finds the projects that rule the working directory.
//   - internal/records reads what a person decided before.
//   - internal/settings reads the settings files and merges the three layers;
//     internal/trust decides between the two which files of projects are in force.
//   - internal/discover finds hooks and resources (skills, recipes, MCP servers) and
//     reads their headers and side files. It runs nothing. What belongs to a hook
//     becomes a bundle (internal/bundle), whose hash is what a person allows.
//   - internal/trust decides what may run: it compares each bundle with the records.
//   - internal/discover asks the programs that described themselves nowhere else. It
//     takes trust.Allowed, which only a decision gives: nothing is asked untrusted.
//   - finalize.go and build.go complete each hook, add a failure for each name that is
//     required and missing, and make the executor's set; programs.go says how each
//     program is started.
//
// # Rules
//
// Nothing of a project counts before it was allowed, and what then runs is the
// private copy made when it was allowed. A lower scope never changes a hook of a
// higher one: each scope's own settings are merged without those below it. A hook
// that was allowed once and is now changed or gone is never merely absent: it stays
// in the set and fails there, under its recorded rule. Every hook that does not run is
// reported with file, line and remedy (internal/report).
package loader
