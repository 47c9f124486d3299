// Package imports reads the hooks that a person has for other agents, straight from the
// settings of those agents, for the setting hooks.import. It reads texts and runs nothing;
// which files count, and whether a person allowed what they name, is for the packages
// around it.
//
// An [Agent] (imports.go) is one of them: where its settings lie and how they are read.
// [Agent.Read] takes the texts of its files and returns each entry as a [Hook]: the
// command as the agent would start it, the event and the matcher in the agent's own words,
// the limit as a duration. Package foreignhooks knows what the words mean.
//
//	list.go        the list of agents
//	imports.go     Agent, Hook: what an agent's file is made of; whether an agent has hooks at
//	               all, for a hint
//	reader.go      reads a file, and the members of an entry; variables and folders of an
//	               entry become part of its command line
//	groups.go      the form that most agents have: events, groups, handlers
//	claude.go …    one file for each agent: its members
//	condition.go   Claude Code's member if as a condition of hookd's
//	describe.go    a Hook as a description, as the loader takes it; variables of agents;
//	               what is said once of all hooks of an agent that goes on when they crash
//	names.go       names, repeated entries, entries that start hookd
//
// # Rules
//
// Nothing is left out in silence: each entry becomes a hook, or a finding says with file
// and line what is not carried over. An entry that cannot be read becomes a hook that is
// faulty, which refuses where it could have refused. A file in which it is not clear what
// counts (no JSON, a key that is there twice) is an error as a whole, and refuses as well.
//
// A new agent is a file with its members and a line in [Agents]; its protocol is a
// dialect of package foreignhooks.
package imports
