// Package question shows the questions of an agent run to a person: a hook, or hookd
// itself, asks before a call runs.
//
// [Lines] (question.go) is all that a question is about, nothing left out: who asks, why,
// and every character of what will run. [LineByLine] (linebyline.go) shows it on a terminal
// page by page and reads the answer; the full screen of package chat uses the same lines.
//
// The rules: what was typed before the question stood there is no answer, a yes counts
// only after the end was shown, an empty line and the end of input are a no. Questions with
// yes or no that are not about a run are in package terminal.
package question
