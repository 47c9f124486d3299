// Package dialect translates between hookd and the hook protocols of other agents. It
// reads and writes bytes and does nothing else: no files, no processes, no clock.
//
// An [Agent] is one of them. As a host it starts hookd for an event:
//
//	call, err := agent.Read(name, stdin)   // their bytes → our event
//	outcome   := … fire call.Event …
//	answer    := call.Answer(&outcome)     // our outcome → their bytes and exit code
//
// If anything on the way goes wrong, [Agent.Refuse] is the answer: a refusal where the
// agent can refuse.
//
// # How an outcome becomes an answer
//
// [Row.Can] says what the agent can do with each part of an outcome at that event. It
// is the table of docs/bridges.md, and verdict.go goes by it: a change that the agent
// cannot take over refuses what it was to change, a question that it cannot put is a
// refusal, and everything else that gets lost is a sentence in [Answer.Lost]. What is
// left, the [Verdict], is written by the agent's own file, with no member in it that
// this agent does not accept: Codex throws an answer with an unknown one away and runs
// the tool.
//
// # Files
//
//	agent.go         Agent, Row, Can; the list of all agents
//	call.go          reads an input
//	verdict.go       makes a verdict of an outcome
//	tools.go         the table of tools and their arguments
//	claudefamily.go  what the agents with Claude Code's names have in common
//	claude.go …      one file for each agent: its rows, and what it accepts
//
// A new agent is a file with its rows, a line in [Agents], rows in the table of tools,
// and a folder of inputs and answers in testdata.
package dialect
