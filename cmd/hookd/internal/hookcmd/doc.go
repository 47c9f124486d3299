// Package hookcmd is the commands around writing hooks: init and examples write
// files; list shows the hooks of a project and check what is wrong with them; get and
// reply (getreply.go) are for hooks in a shell; schema and version print what they say.
//
// Each file is a command, with its flags and its help. check is several: check.go collects
// the findings and prints them with what this machine promises, checkmodes.go reads the
// newest records to say which hooks would be faster in another mode, checkwarned.go what
// was warned of, and checkstate.go whether anything can be recorded at all. hookd new is
// package newcmd.
package hookcmd
