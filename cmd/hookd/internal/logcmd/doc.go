// Package logcmd is hookd log: what was decided, as a timeline, or one event whole.
//
// log.go chooses the records and follows the last one. Their newest lines are read from
// the end (newest.go). A line passes the filter (filter.go: project, event, tool, hook,
// time, refusals), is printed (timeline.go) and counted (tally.go). With --would, what
// hooks in audit mode would have refused is counted instead (would.go). With an ID, the
// event is looked for (find.go) and shown whole (page.go). A line that is not what was once
// written is shown as such.
package logcmd
