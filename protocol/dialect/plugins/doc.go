// Package plugins holds the plug-ins of hookd for agents that have no programs as hooks:
// OpenCode and pi load a file of TypeScript. Source writes one for a given hookd.
//
// Each plug-in is one file without dependencies: bridge.ts, which starts hookd, and the
// agent's own file after it, which says what of the agent's API is which event and obeys
// the answer. They are written so that a JavaScript engine takes them as they are; types
// are in comments.
//
// # How an event flows
//
// A function of the agent's API is called. The plug-in starts hookd bridge AGENT EVENT, as
// every other agent does, writes the event to its stdin and waits for its end. One process
// serves one event: it needs no order of requests and no recovery, a hook that hangs holds
// up no other event, and with a warm daemon the messenger is as quick as a long-lived
// process of the plug-in's own would be. (Package hosts has the other side in plugin.go.)
//
// # Rules
//
// A gate is never passed because hookd is not there: if it cannot be started, dies, says
// what is no answer, says too much, or takes longer than its limit, the call is refused, and
// the reason says why and what helps. hookd answers every event with an object, so that
// silence is a failure. After a time-out the whole process group is ended. Events that
// cannot be refused are told to the person and go on.
//
// OpenCode's args are changed in place: OpenCode ignores an object that takes their place.
package plugins
