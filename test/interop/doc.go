// Package interop runs hookd against programs that others wrote: servers of MCP, the
// client libraries of model providers, and agents. Its tests have the build tag interop:
// they install their peers with npm into a folder that is removed again, and skip, with a
// word, what cannot be had. `make interop` runs them.
//
// An agent is a row of realAgents (agents_test.go). hookd is installed into it as a person
// does it, with what the person has to confirm in the agent (agentstage_test.go). The agent
// has keys that are none, and asks a mock model (agentmodel_test.go), which calls the agent's
// tools for shells, files and MCP. Hooks refuse, change and answer (agentcases_test.go); a
// project carries hookd, its daemon is killed, hooks only watch, hookd is taken away
// (agentruns_test.go). What counts is what lies in the project afterwards, and what the model
// reads in its next request. An event that does not take effect as the agent is driven here
// is in its row with the reason (mute).
//
// Variables for a person who works on these tests: HOOKD_INTEROP_PEERS is a folder that keeps
// what npm installed, HOOKD_INTEROP_CRUSH a program that is used in place of an installed one
// (so for each agent), HOOKD_INTEROP_PAYLOADS a folder for the events that hooks read, and
// HOOKD_INTEROP_REQUESTS one for what the model was asked. Inputs of package hosts are made
// of such payloads.
package interop
