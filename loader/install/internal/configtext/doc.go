// Package configtext edits the configuration files of other agents as text: it puts an
// entry in or takes one out, and every other byte stays as it was: comments, order,
// indentation, line ends, a byte order mark, what is written twice. It knows nothing of
// hooks or agents.
//
// [Read] reads a text as a [Document]: the text, and a tree of [Node]s, which know their
// line and, in JSON, their bytes. An edit takes a [Path] and returns a new document:
//
//	Add(path, value)    appends value to the list at path; what is missing on the way
//	                    there is made
//	Remove(path)        takes out one element or member
//
// An addition is nothing but inserted bytes, and Remove deletes the bytes that Add
// inserted, so that the one undoes the other. Where a list or an object was empty the
// bytes between its brackets cannot be told from its new contents any more: the caller
// keeps what [Document.Inner] returned before, and puts it back with [Document.SetInner].
//
//	node.go      Node, Path, Value; which format a file has
//	document.go  Document and its edits
//	render.go    a Value as JSON, YAML or TOML text
//	jsonc.go     JSON with comments and trailing commas to a tree
//	jsonedit.go  edits of JSON
//	jsonlayout.go where a new element goes, and how it is indented
//	yamledit.go  edits of YAML, by whole lines
//	tomledit.go  edits of TOML, by whole tables
//
// After every edit the caller should compare the trees of both texts ([Same]): the
// editors do not promise that an unusual file is understood, they promise an error or a
// text that reads the same apart from the entry.
package configtext
