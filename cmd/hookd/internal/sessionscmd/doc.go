// Package sessionscmd is hookd sessions: list, show, export and remove the conversations
// of hookd run.
//
// sessions.go lists them and finds one by the beginning of its ID, also for hookd run
// --continue and --resume. transcript.go shows a conversation, export.go writes it as
// markdown, remove.go removes it with what hooks remember of it.
package sessionscmd
