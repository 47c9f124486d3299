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
// # How an input becomes an event
//
// call.go holds the bytes against JSON and the table, the agent's file gives the members
// Claude Code's names (most have them), and claudefamily.go makes our data of them. The
// call of a tool gets hookd's name and forms by the one table of package toolname, with the
// agent's own name as data.hostTool, and the agent's bytes stay as data.host. An input that
// does not say what is called is an error, never a call without arguments: hooks would have
// nothing to judge.
//
// # How an outcome becomes an answer
//
// [Row.Can] says what the agent can do with each part of an outcome at that event. It
// is the table of docs/bridges.md, and verdict.go goes by it: a change that the agent
// cannot take over refuses what it was to change, a question that it cannot put is a
// refusal, and everything else that gets lost is a sentence in [Answer.Lost]. Where the
// agent shows texts to the person, the answer has these sentences too, and the event's
// Lost gives them to the record. What is left, the [Verdict], is written by the agent's own
// file, with no member in it that this agent does not accept: Codex throws an answer with
// an unknown one away and runs the tool.
//
// # Hooks that were written for another agent
//
// A [Foreign] is an agent from the other side: hookd stands in its place and asks hooks
// that were written for it.
//
//	selector, err := foreign.Select(names, matcher)  // what the hook's description says
//	asking := selector.Ask(event, project)           // nil: that agent would not ask it
//	… run the hook with asking.Stdin, Env and Args …
//	result := asking.Reply(hook, ending)             // their words and exit code → our reply
//
// Both roles meet in our event and in the one table of tools, so that a hook for one agent
// runs under any other. Under its own agent a hook reads what that agent sent (asSent). What
// a reply says counts as its own agent takes it, with two exceptions, both towards a no: a
// refusal that was said before a crash or a time-out counts, and changed args that cannot be
// brought into our form refuse the call. [Foreign.Rule] is what a failure does where the
// hook's description says nothing: what that agent does, but a hook that could not be asked
// refuses what it could have refused. [Described] and [Speaks] find out whose protocol a
// program speaks that does not say so itself.
//
// # Adding an agent
//
//  1. A file with an [Agent]: its rows, how it reads (readClaudeFamily, after the members
//     have these names) and how it writes. A row whose thing the agent also tells by
//     another event says so (Same), and package install takes one of them.
//  2. Its name in [Agents], and the names of its tools in package toolname.
//  3. A folder testdata/AGENT with one input for each row: EVENT.json or EVENT.what.json as
//     the agent wrote it, EVENT.documents.json where it is written after documents. All
//     inputs of an agent from documents are. Then go test -update writes what becomes of
//     them, EVENT.event.golden and EVENT.answers.golden, to be read line by line.
//
// An agent whose hooks are to run here has a second file, AGENThooks.go, with a [Foreign]:
// its events, its input, its reply; its name in [Foreigners], rows in the test's table of
// replies, and testdata/hooks/AGENT, which go test -update writes.
//
// TestEveryCell fails for a row without an input, and for each part of an outcome that is
// neither carried out nor told as lost; TestBrokenInputIsRefused for an input that is not
// whole and passes.
//
// # Files
//
//	agent.go         Agent, Row, Can; the list of all agents
//	call.go          reads an input
//	claudefamily.go  our data of members with Claude Code's names
//	tools.go         calls of tools, and what hooks changed
//	verdict.go       makes a verdict of an outcome
//	object.go        writes JSON
//	plugin.go        what hookd and its own plug-ins say to each other
//	claude.go …      one file for each agent: its rows, and what it accepts
//
//	foreign.go       Foreign, HookEvent; names of events, rules of failures
//	asking.go        which events a hook is asked about, and what it reads
//	foreigncall.go   calls of tools in another agent's words, and back
//	claudemembers.go inputs with Claude Code's names of members
//	hookmatcher.go   matchers, each compared as its agent does
//	replying.go      reads an answer: what all agents have in common
//	claudehooks.go … one file for each agent whose hooks run here
//	describing.go    programs that say, or show, whose protocol they speak
package dialect
