// Package verify says whether the hooks that were installed into other agents are alive: of
// each agent and version whether that is proved, plausible, broken, or cannot be said.
//
//	results := verifier.Verify(ctx, nil)
//
// An installation goes through the list of checks (checks.go): each looks at one thing that
// must hold for the agent to run hookd, in the agent's files and on this machine. What
// package install itself finds is one of them; the others know what a person has to
// confirm in an agent (trust.go), what can overrule hookd (rank.go), and whether the
// program is the one that was installed (program.go).
//
// If nothing is wrong, and the agent can be driven without a model, it is started once in
// an empty folder with keys that are none, and the bridge leaves a mark when it is called
// (prove.go). That is the proof; without it, it is plausible.
//
//	verify.go    Verifier, Result, Verdict; one installation after the other
//	checks.go    the list of checks
//	config.go    an agent's file, with what stands around our entries
//	trust.go codextrust.go rank.go program.go   the checks
//	prove.go     the table of agents that can be driven, and the proof
//
// A new check is a row in checks.go.
package verify
