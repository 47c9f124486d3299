// Package foreignhooks has the agents whose hooks hookd runs. hookd stands in such an
// agent's place and asks hooks that were written for it: it writes what the agent would have
// written, and reads what they answer in the agent's meaning.
//
//	agent    := foreignhooks.Find("claude")
//	selector, err := agent.Select(names, matcher)    // what the hook's description says
//	askings  := selector.AskEach(event, project)     // none: that agent would not ask it
//	… run the hook with each asking's Stdin, Env and Args …
//	result   := asking.Reply(hook, ending)           // their words and exit code → our reply
//
// The event may come from hookd's own loop or from any agent that calls hookd (package
// hosts): both meet in our event and in the one table of tools, so that a hook for one agent
// runs under any other. Under its own agent a hook reads what that agent sent (asSent). A
// call on several files, such as a patch, is told file by file to hooks of agents that have
// no tool for it.
//
// What a reply says counts as its own agent takes it, with two exceptions, both towards a
// no: a refusal that was said before a crash or a time-out counts, and changed args that
// cannot be brought into our form refuse the call. [Agent.Rule] is what a failure does where
// the hook's description says nothing: what that agent does, but a hook that could not be
// asked refuses what it could have refused.
//
// [Described] and [Speaks] find out whose protocol a program speaks that does not say so
// itself.
//
// # Adding an agent
//
//  1. A file with an [Agent]: its events, its input, its reply.
//  2. A row in list.go, and the names of its tools in package toolname.
//  3. Rows in the test's table of replies, and the folder testdata/AGENT, which go test
//     -update writes.
//
// # Files
//
//	list.go          the list of all agents, and the words of the field dialect
//	claude.go …      one file for each agent whose hooks run here
//
//	agent.go         Agent and Asking: what an agent's file is made of
//	events.go        names of events, rules of failures
//	select.go        which events a hook is asked about
//	asking.go        what it reads, its variables and arguments
//	asked.go         what several inputs say about an event
//	toolcall.go      calls of tools in another agent's words, and back
//	claudemembers.go inputs with Claude Code's names of members
//	matcher.go       matchers, each compared as its agent does
//	replying.go      reads an answer: what all agents have in common
//	describing.go    programs that say, or show, whose protocol they speak
//	shellline.go     commands that are one string
package foreignhooks
