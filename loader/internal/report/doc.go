// Package report collects what a load says besides its results.
//
// A [Report] is handed from step to step. It takes findings, the reason why every
// gate is refused, when to load again, and the files that were looked at, so that a
// watcher knows what to compare. report.go holds the type, codes.go the code of every
// finding with its severity and meaning; the generated documentation lists them. A
// [Problem] is why one thing cannot run, with what to do about it.
package report
