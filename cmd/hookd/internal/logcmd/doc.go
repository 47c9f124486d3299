// Package logcmd is hookd log: what was decided, as a timeline.
//
// log.go chooses the records and follows the last one. A line passes the filter
// (filter.go: project, hook, time, refusals), is printed (timeline.go) and counted
// (tally.go). With --would, what hooks in audit mode would have refused is counted instead
// (would.go). A line that is not what was once written is shown as such.
package logcmd
