// Package records keeps what a person decided: which hooks, resources and settings of
// a project are allowed or denied, and which hooks are switched off for a while.
//
// A [Folder] holds one file per project, [Decisions]. Each [Record] lists the whole
// bundle that was decided about, so that the loader knows what a guard was after its
// file changed or vanished. The hash of a record is made anew when it is read: a
// record vouches for nothing but what it lists. Files that others could read or write
// are not believed. [Folder.Change] is the only way to write, under a lock.
package records
