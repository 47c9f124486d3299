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
// (prove.go). That is the proof; without it, it is plausible. Of other agents the command of
// an entry is run. Where entries start the messenger, a daemon must answer, and after its
// death the messenger alone (warm.go). What belongs to a project is tried with a copy of
// our entries (copy.go): nothing else that a project names is started.
//
//	verify.go    Verifier, Result, Verdict; one installation after the other
//	checks.go    the list of checks
//	config.go    an agent's file, with what stands around our entries
//	trust.go codextrust.go rank.go program.go   the checks
//	prove.go     the proof: what is called, and what it means
//	drive.go     the table of agents that can be driven; starts one and waits for the mark
//	warm.go      the daemon of a proof
//	copy.go      the entries of a project, in a folder of their own
//
// A new check is a row in checks.go.
package verify
