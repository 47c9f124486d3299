// Package hosts has the agents that call hookd for their events, each in a file of its own,
// and their list, [All]. Package dialect says how an agent's file takes part in reading an
// input and writing an answer.
//
// # Adding an agent
//
//  1. A file with a [dialect.Agent]: its rows, how it reads ([dialect.ReadClaudeFamily],
//     after the members have these names) and how it writes. A row whose thing the agent
//     also tells by another event says so (Same), and package install takes one of them.
//  2. A row in list.go, and the names of its tools in package toolname.
//  3. A folder testdata/AGENT with one input for each row: EVENT.json or EVENT.what.json as
//     the agent wrote it, EVENT.documents.json where it is written after documents. Then
//     go test -update writes what becomes of them, EVENT.event.golden and
//     EVENT.answers.golden, to be read line by line.
//
// TestEveryCell fails for a row without an input, and for each part of an outcome that is
// neither carried out nor told as lost; TestBrokenInputIsRefused for an input that is not
// whole and passes.
//
// # Files
//
//	list.go      the list of all agents
//	claude.go …  one file for each agent: its rows, and what it accepts
//	rows.go      what several agents have: rows, a prompt by another name, an answer by exit code
//	plugin.go    the answer to a plug-in of hookd's own
package hosts
