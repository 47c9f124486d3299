// Package proxied is what proxies have in common that stand between a client and a program
// that serves it, and have hooks judge what the two say to each other.
//
//	connection.go  Process, and Connection: carries the messages until one side ends, then ends the other
//	events.go      Events fires the events of a session; what people and models read of an outcome
//	calls.go       Call: hooks see each call of a tool start, and end once
//	background.go  Background: what nobody waits for before the end
//	pending.go     Pending: the requests of one side that have no answer
//	misread.go     Misread: members and methods that some programs take for others
//	spelling.go    UsualAddress: addresses that programs take for the same one
//	notes.go       Notes tells a person of lines that were not passed on
//
// Package relay carries the messages. What they mean is known to the proxy of each protocol:
// executor/mcpproxy, executor/acpproxy.
package proxied
