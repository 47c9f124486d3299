// Package trustcmd is the commands by which a person decides about a project: trust,
// untrust, disable and enable.
//
// hookd trust (trust.go) loads a plan: all that would be in force and nobody allowed as it
// is. It shows each item as it would run (item.go), its code (code.go), or the keys of the
// settings (settings.go), asks once, and allows exactly what it showed. plan.go counts and
// names items in words; a conversation uses it for /trust.
//
// A long file of rules that can only refuse or ask is told in two lines for each rule (packs.go).
// What is too long or no text is not printed whole, and the question says how much was
// not.
package trustcmd
