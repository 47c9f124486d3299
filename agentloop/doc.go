// Package agentloop runs an agent: it takes a prompt, calls a model, runs the
// tools the model asks for, and goes on until the model is done.
//
// The loop is a skeleton of stages. At each stage an event is built and handed
// to the [Gate], and what the gate decided is obeyed before anything happens:
// what an event announces has not taken effect while its hooks judge it. What
// was decided is then yielded on the run's channel for whoever watches.
//
//	loop, err := agentloop.New(agentloop.Options{Gate: gate, Model: m, Tools: tools})
//	run, err := loop.Run(ctx, "what does main.go do?")
//	for y := range run.Events() { … }
//	err = run.Wait()
//
// Everything beyond the stages is a [Provider]: hooks that join the gate, and
// tools. Without any given, those of [builtin.Defaults] limit a run.
//
// The package imports the protocol only: who decides, and how hooks are found
// and run, is the gate's business.
package agentloop
