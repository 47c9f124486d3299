// Package toolname knows the tools of agents: their names, those of hookd's own loop and
// those that other agents have for the same, how their calls are written, and the patterns
// in which people write names.
//
// [Vocabulary] is the table, one row for each name: what kind of tool it is, the agents
// that call it so, hookd's name for it, and the members of its args that are written in
// another way there. [VerbTools] has the tools that do what several of hookd's do, and
// [ServerNames] the names of tools of MCP servers. These are the only places to add a tool.
// From them follow
//
//   - [Kind], the kind of a tool by its name;
//   - the rule that names stand for each other: Bash in a matcher means bash in hookd's
//     loop, because both are shells and no agent has both;
//   - [ToOurs] and [ToTheirs], which translate a call. Another agent's event is read with
//     ToOurs, and [Back] writes what hooks changed of it; a hook that was written for
//     another agent reads what ToTheirs writes, and its answer is read with ToOurs.
//
// [Pattern] is one item of match.tool: a name, a glob, a /regular expression/ or an
// @kind. When it is in doubt it matches, so that a guard is asked: a name that an agent's
// own table does not have, and that has no fixed beginning, proves nothing ([Call].MayBe). [Allowed] is one
// item of agent.approval.tools or of --allow, which is written the same way and, when
// it is in doubt, does not match.
//
//	vocabulary.go  the table
//	names.go       what a name stands for
//	servers.go     names of the tools of MCP servers
//	mcpname.go     the name that hookd gives to such a tool
//	verbs.go       tools that are several of hookd's, by a word in their args
//	translate.go   calls in hookd's names and in another agent's
//	forms.go       forms of values: words as a command line, milliseconds
//	files.go       which files a call names in a patch or a list
//	args.go        which arguments each call of a tool of our own has
//	pattern.go     items of match.tool
//	allowed.go     items of agent.approval.tools
package toolname
