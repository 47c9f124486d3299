// Package tables writes the tables of the documentation from the types and the events
// table of package protocol, so that they cannot differ from what hookd does.
package tables
