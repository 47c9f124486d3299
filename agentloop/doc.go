// Package agentloop runs an agent: it takes a prompt, calls a model, runs the tools that the
// model asks for, and goes on until the model is done.
//
//	loop, err := agentloop.New(agentloop.Options{Model: m, Tools: tools})
//	run, err := loop.Run(ctx, "what does main.go do?")
//	for update := range run.Events() { … }
//	err = run.Wait()
//
// The loop is a skeleton of stages. At each stage it builds an event and hands it to the
// [Gate], which asks the hooks, and it obeys what the gate decided before anything happens:
// what an event announces has no effect while its hooks judge it. What was decided is then
// shown on the run's channel.
//
// All that the loop does beyond its stages is a [Provider]: hooks that join the gate, and
// tools. Those of [builtin.Defaults] limit every run in steps, tokens, time and retries,
// unless [Options].NoDefaults is set. Without a gate only the providers' hooks are asked.
//
// # How a prompt flows through the files
//
// [New] makes a [Loop] of [Options]: the session that all its agents share, and the session's
// own agent (options.go). [Loop.Run] starts a [Run] (loop.go). run.go has the skeleton,
// from the prompt to agent-end or agent-error, and stages.go its stages: begin, step, stop.
//
// Each stage fires its events through events.go, which numbers them, has the gate decide
// them, and gives the last events their time after an abort. The decision is a verdict
// (verdict.go); a refusal of it is the end of the run.
//
// A step asks the model (inference.go), then runs the tool calls of its answer
// (toolcalls.go). If hooks or the loop's own [Consent] ask about a call, other hooks may
// answer, else a person (permission.go, person.go). A call that a person makes goes the same
// way ([Loop.RunCall]).
//
// Recipes that hooks ask for run on a copy of the conversation (nestedrun.go); one of them
// compacts the conversation (compaction.go). Sub-agents run in the same session
// (subagent.go).
//
// The packages below internal hold what has no events: conversation the messages, the checks
// on them, and what a compaction keeps; answer a streamed answer; toolset the tools that
// come and go; limits time and usage; gohooks the gate of a loop that was given none.
//
// # Rules
//
// What hooks may still change is not shown before it was decided, and then once: a streamed
// answer, a tool's output, a sub-agent's last words (heldoutput.go). Nothing is held back that
// no hook may change.
//
// A message is written to the session's file before a model reads it. Each tool call has one
// result, whatever happens.
//
// After an abort control is back within 250 ms, and each event that began has its end.
//
// The package never imports the executor: who decides, and how hooks are found and run, is
// the gate's business.
package agentloop
