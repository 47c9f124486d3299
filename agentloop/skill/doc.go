// Package skill reads skills: texts that tell a model how something is done, and that reach
// it only when they are needed. A skill is a markdown file with front matter: NAME.md, or
// SKILL.md in a folder of its own with further files next to it.
//
//	---
//	name: release
//	description: How a release of this project is made.
//	keywords: [release, changelog, new version]
//	---
//	1. Run `make release` …
//
// name is used in place of the file's name, keywords are words or phrases of a prompt that
// call for the skill, and always: true adds it to every conversation. Keys of other agents'
// skills are accepted and have no effect.
//
// [Read] reads files that the caller has found and allowed, with the limits of their sizes
// (skill.go). [Called] says which skills a prompt calls for (calls.go). How a skill gets into
// a conversation is decided in package builtin.
package skill
