// Package instructions finds the files in which a project, or the user, tells an agent what
// to know and how to work: AGENTS.md, and CLAUDE.md where there is none.
//
// [Folders] lists where they may lie: in the root of a project and in each folder on the way
// from there to the working directory, the root first. [Find] looks into one folder and says
// what is wrong with the file. Nothing is read: what decides about the files hashes them, and
// who reads them reads what was hashed.
//
// A file must be a regular one below the root. A link may lead to another Markdown file below
// it and nowhere else, so that a clone cannot have a key file or the token of .git/config
// read to a model under an innocent name.
package instructions
