// Package toolname knows the names of tools: those of hookd's own loop and those that
// other agents have for the same, and the patterns in which people write them.
//
// [Vocabulary] is the table: a name, what kind of tool it is, and the agents that
// call it so. It is the one place to add a name. From it follow [Kind], the kind of
// a tool by its name, and the rule that names stand for each other: Bash in a
// matcher means bash in hookd's loop, because both are shells and no agent has both.
//
// [Pattern] is one item of match.tool: a name, a glob, a /regular expression/ or an
// @kind. When it is in doubt it matches, so that a guard is asked. [Allowed] is one
// item of agent.approval.tools or of --allow, which is written the same way and, when
// it is in doubt, does not match.
//
//	vocabulary.go  the table
//	names.go       what a name stands for
//	args.go        which arguments each call of a tool of our own has
//	pattern.go     items of match.tool
//	allowed.go     items of agent.approval.tools
package toolname
