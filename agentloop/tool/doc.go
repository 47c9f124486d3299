// Package tool holds the tools that the agent loop offers to a model.
//
// A [Tool] describes itself and runs (tool.go). An author needs one call:
//
//	weather := tool.New(tool.Description{
//		Name:        "weather",
//		Description: "Says what the weather is like in a city.",
//		Kind:        protocol.KindNet,
//	}, func(ctx context.Context, args struct {
//		City string `json:"city" jsonschema:"name of the city"`
//	}) (protocol.Result, error) {
//		return tool.OK("sunny in " + args.City), nil
//	})
//
// The loop keeps its tools in a [Registry] (registry.go), which checks names, schemas and
// the args of each call. Tools that come and go, such as those of an MCP server, come from
// a [Source]. What a tool is told of its call besides the args stands in the context
// (callcontext.go): [CallID], and [Output] for a person who watches.
//
// The tools of the loop itself:
//
//   - [Bash] runs a command line (bash.go) through a [Runner] (runner.go), in the
//     environment of [Env] (env.go), and keeps the head and the tail of its output
//     (output.go).
//   - [Files] are read_file, write_file, edit_file, list_dir (files.go) and grep (grep.go).
//     As [FileTool] they say beforehand which file a call would touch (filetool.go), so
//     that hooks can judge it, and they remember what each agent has read
//     (knowncontent.go), so that nobody overwrites what was not seen. With an [Editor]
//     (editor.go) they see and write what is open in it.
//
// How a file is opened, locked and replaced is in internal/projectfile, which places are
// protected in internal/protect, how a text is edited in internal/textedit.
//
// Rules: a tool obeys its context and leaves nothing running; what it found out, a
// failure included, is a Result, and an error means that there is none; a tool never
// decides whether it may run, hooks do.
package tool
