// Package dialect translates between hookd and the agents that call it. With the packages
// below it, it reads and writes bytes and does nothing else: no files, no processes, no
// clock.
//
//	dialect/hosts         other agents that call hookd, a file each, and their list
//	dialect/foreignhooks  hooks of other agents that hookd runs, a file for each agent, and
//	                      their list
//	dialect/plugins       what hookd installs at agents that have no programs as hooks
//
// This package is the frame of the first: what an agent's file is made of, and what is the
// same for all agents. It knows none of them; the lookup by name is where the list is.
//
//	agent     := hosts.Find("claude")
//	call, err := agent.Read(name, stdin)   // their bytes → our event
//	outcome   := … fire call.Event …
//	answer    := call.Answer(&outcome)     // our outcome → their bytes and exit code
//
// If anything on the way goes wrong, [Agent.Refuse] is the answer: a refusal where the
// agent can refuse.
//
// # How an input becomes an event
//
// read.go holds the bytes against JSON and the table, the agent's file gives the members
// Claude Code's names (most have them), and claudefamily.go makes our data of them. The
// call of a tool gets hookd's name and forms by the one table of package toolname, with the
// agent's own name as data.hostTool, and the agent's bytes stay as data.host. An input that
// does not say what is called is an error, never a call without arguments: hooks would have
// nothing to judge.
//
// # How an outcome becomes an answer
//
// [Row.Can] says what the agent can do with each part of an outcome at that event. It
// is the table of docs/bridges.md, and settle.go goes by it: a change that the agent
// cannot take over refuses what it was to change, a question that it cannot put is a
// refusal, and everything else that gets lost is a sentence in [Answer.Lost]. Where the
// agent shows texts to the person, the answer has these sentences too, and the event's
// Lost gives them to the record. What is left, the [Verdict], is written by the agent's own
// file, with no member in it that this agent does not accept: Codex throws an answer with
// an unknown one away and runs the tool.
//
// # Files
//
//	row.go           Row, Can, Means: what an agent can do at an event
//	input.go         Input, Reading: what an agent's file reads, and what it makes of it
//	agent.go         Agent, Call, Verdict, Answer: what an agent's file is made of
//	read.go          reads an input
//	claudefamily.go  our data of members with Claude Code's names
//	tools.go         calls of tools, and what hooks changed
//	answer.go        writes an answer to an outcome, or a refusal where there is none
//	settle.go        makes a verdict of an outcome
//	errors.go        what an input can be besides a call
//
// Arrows run downwards: hosts → dialect → internal/object, which reads and writes JSON
// objects and is also what foreignhooks stands on. How to add an agent is in the manuals of
// hosts and foreignhooks.
package dialect
