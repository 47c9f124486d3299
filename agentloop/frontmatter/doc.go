// Package frontmatter reads markdown files that begin with YAML between two lines of three
// dashes: recipes and skills.
//
//	---
//	name: compact
//	description: what it is for
//	---
//	The text.
//
// [Parse] splits a file into its front matter and its body (frontmatter.go).
// [Document.Decode] reads the front matter into a struct, and returns the keys that the
// struct does not have (decode.go). Errors name the line of the file.
//
// A byte order mark, carriage returns, and HTML comments before the front matter are
// accepted. Anchors and aliases are not, since they make a small file large. What looks like
// front matter and is none is an error: as a body it would go to the model.
package frontmatter
