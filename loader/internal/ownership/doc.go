// Package ownership reports whether somebody else could change what a path leads to.
//
// A [Walk] follows a path part by part, as the kernel does (walk.go). Each folder and
// link on the way must belong to the user or root and be writable by nobody else. Two
// customs are allowed: sticky folders such as /tmp, and a group that is the user's own
// (privategroup.go, which also reads access lists on Linux, accesslist_linux.go).
// exemptions.go reads the folders of hooks.trust.folders, for which user or machine
// lift these checks. managed.go holds the stricter check of the machine's layer, of
// which every part must be root's.
package ownership
