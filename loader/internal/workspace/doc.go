// Package workspace finds the projects that rule a working directory.
//
// A [Search] walks from the folder upwards (search.go). The nearest folder with .acai,
// or with trust records of one that vanished, is the project; projects further up
// count if a person allowed something of them. The search ends at home, and it does
// not go past folders that somebody else could have put an .acai into. Folders that
// do not count although somebody may rely on them are an [IgnoredFolder] each, and a load
// refuses every gate where one of them was allowed before.
//
// also.go adds the projects of further folders, which an agent says that its session is
// about.
//
// home.go finds the home folder, which HOME alone does not decide. worktree.go tells
// worktrees of git from their main checkout: what was allowed in the main checkout
// counts in its worktrees. statefolder.go makes sure that the state folder lies in no
// project, which could bring its own trust along otherwise.
package workspace
