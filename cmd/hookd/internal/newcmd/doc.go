// Package newcmd is hookd new: it writes a hook of a template, and its tests beside it.
//
// A hook is written for an event, with a class (what it may do there) and in a language:
//
//	newcmd.go     the command: its flags, and the files that it writes
//	languages.go  the table of languages: a row, and the file template/NAME.tmpl
//	subjects.go   the table of what hooks look at, a row for each event
//	answers.go    what a hook of a class does at an event, by the table of events
//	page.go       a page: all that a template names; fills a template with one
//
// A template is text for all events and classes: it takes a value out of the event, looks
// whether it holds a word, and answers with what the page says. It is what a person reads
// first of hookd: short, in the manner of the language, with what is to be changed at the
// top. It must fail, and never pass, where the value is not there or is no text: a guard
// that cannot read its event refuses, by onFailure in its header.
//
// The tests that are written with a hook pass as it is written, in every language, at
// every event and with every class: a test of this package runs them all where the
// interpreter is.
package newcmd
