// Package eventname finds the event that a misspelt name most likely means.
//
// Names of events say on which side of a thing they are: before it, when it can still
// be refused, or after it. [Nearest] never takes a misspelt name for one of the other
// side, because a guard there would come too late; where the name says no side and
// events of both are as near, it answers nothing. eventname.go has all of it: the words
// that say a side, how one is cut off a name, and the comparison.
//
// The package knows no event: the caller hands in the names of its table.
package eventname
