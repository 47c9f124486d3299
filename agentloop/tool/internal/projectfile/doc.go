// Package projectfile opens and changes the files of a project for the file tools.
//
// [Folder.Resolve] turns a path that a model wrote into a [Target] (folder.go): the real
// path, links followed, inside the project and in none of the places of package protect.
// A target is opened one folder at a time and by no link, and what was opened is compared
// with the places once more, so that a link that is put there meanwhile leads nowhere.
// [Target.Read], [Target.List] and [Target.Walk] read (read.go).
//
// [Folder.Change] changes a file under the lock of its folder (lockedfile.go, lock.go):
// other calls, agents and runs of hookd take turns. The file is replaced as a whole by a
// new one that keeps mode, owner and attributes (replace.go, and
// package fsutil): a reader, a crash or a full disk finds the old content or the new.
// A program that knows no lock is seen up to the last moment before that; the change
// then begins again.
package projectfile
