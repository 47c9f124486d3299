// Package builtin holds the features of the agent loop that come with it. Each is a
// [provider.Provider]: hooks, and tools that go with them. They answer events as any hook
// does, and are asked first: their layer is builtin.
//
// [Defaults] are what a loop has without being told (defaults.go): [Steps], [Tokens],
// [Time] and [Retries] limit a run, [Done] ends it when the model asks for no more tools.
// A provider of the same name takes the place of a default one, so replacing one keeps the
// other limits. All others are there only if they are asked for.
//
// One idea a file:
//
//   - limits.go: steps, time, and tries of a model call. tokens.go: output tokens.
//     budget.go: cost, and tokens in all.
//   - bash.go: shell commands that never run, or run without asking; package shellwords
//     reads the line. approval.go: answers a question about a tool call by the mode and by
//     what the person said with "always".
//   - compaction.go: has a recipe replace a conversation that grows too long.
//   - instructions.go: the folder, the system, the date and AGENTS.md, in the system text.
//   - skills.go: texts that the model looks up. tasks.go: its list of tasks. metadata.go:
//     its notes. subagents.go: the tool that starts another agent.
//   - structured.go: holds the final answer to a JSON Schema. selfcritique.go: has it
//     judged by a recipe.
//
// A feature speaks to the loop only by events and by [provider.RunContext]. What it
// remembers of a session it keeps in its hook's state or metadata, so that a resumed
// session has it. A new feature is a file here, a row in the schema of built-in features
// and one where the program wires them.
package builtin
