// Package loader finds the hooks and settings that apply to a project and makes one
// immutable set of them for the executor.
//
// [Load] builds one [Snapshot]. [Watch] keeps one current while files change.
// [OpenTrust] is for a person: it shows what would run, and takes the decision.
//
// # How a load goes
//
// The steps are in one function, snapshot in load.go. Each takes what the steps
// before it found and returns values. Its findings go into one report.
//
//   - internal/workspace finds the projects that the working directory is in.
//   - internal/records reads what a person decided before.
//   - internal/settings reads the settings files and merges the three layers;
//     in between, internal/trust decides which files of projects are in force.
//   - internal/discover finds hooks and resources (skills, recipes, MCP servers) and
//     reads their headers and side files. It runs nothing. What belongs to a hook
//     becomes a bundle (internal/bundle), whose hash is what a person allows.
//   - internal/trust decides what may run: it compares each bundle with the records.
//   - internal/discover asks the programs that described themselves nowhere else. It
//     takes trust.Allowed, which only a decision gives: nothing untrusted is asked.
//   - finalize.go and build.go complete each hook, add required names that no hook has
//     as failures, and make the executor's set. programs.go says how each program is
//     started.
//
// # Rules
//
// Nothing of a project counts before it was allowed. What then runs is the private
// copy that was made when it was allowed. A lower scope never changes a hook of a
// higher one: each scope's own settings are merged without those below it. A hook
// that was allowed once and is now changed or gone is never merely absent: it is in
// the set as a failure under its recorded rule. Every hook that does not run is
// reported with file, line and remedy (internal/report).
package loader
