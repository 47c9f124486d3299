package verify

import (
	"context"
	"slices"

	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/schema"
)

// Verdict is what is known of hooks that are installed in an agent.
type Verdict string

const (
	Proved    Verdict = "proved"        // the agent was started, and its hook call reached hookd
	Plausible Verdict = "plausible"     // nothing that was looked at stands in the way
	Broken    Verdict = "broken"        // it does not work as it is
	CannotSay Verdict = "cannot say"    // something is there that may keep it from working
	Absent    Verdict = "not installed" // hookd is not in the agent's settings
)

// Problem is what keeps hooks from working, or may.
type Problem struct {
	Check  string `json:"check"`
	File   string `json:"file,omitzero"`
	Line   int    `json:"line,omitzero"` // 1-based
	Text   string `json:"text"`
	Remedy string `json:"remedy"`
}

// Result is what is known of one installation.
type Result struct {
	Agent    string        `json:"agent"`
	Title    string        `json:"title"`
	Scope    install.Scope `json:"scope,omitzero"`
	Version  string        `json:"version"` // of the agent, "unknown" if it did not say
	Verdict  Verdict       `json:"verdict"`
	File     string        `json:"file,omitzero"`
	Problems []Problem     `json:"problems"`
	Doubts   []Problem     `json:"doubts"`
	Proof    string        `json:"proof,omitzero"` // which call reached hookd, or why none was tried
}

// Verifier looks at the installations of this person, project and machine.
type Verifier struct {
	Installer *install.Installer
	State     string         // hookd's state folder of this user
	Environ   []string       // as os.Environ returns it
	Run       install.Runner // nil: no agent is started, neither for its version nor for a proof
	Prove     bool           // agents are started for a proof
}

// Verify returns the results for some agents, in the order given, or for all in which
// hookd is installed. An agent that is named and has nothing of hookd's is absent.
func (v *Verifier) Verify(ctx context.Context, agents []*install.Agent) []Result {
	named := len(agents) > 0
	if !named {
		agents = install.Agents
	}
	var results []Result
	for _, a := range agents {
		of := v.agent(ctx, a)
		if len(of) == 0 && named {
			of = []Result{{Agent: a.Name, Title: a.Title, Version: install.Version{}.String(), Verdict: Absent, Problems: []Problem{}, Doubts: []Problem{}}}
		}
		results = append(results, of...)
	}
	return results
}

// agent returns a result for each scope in which hookd is installed in an agent.
func (v *Verifier) agent(ctx context.Context, a *install.Agent) (results []Result) {
	var found install.Found
	looked := false
	for _, scope := range install.Scopes {
		if scope == install.Project && v.Installer.Places.Project == "" {
			continue
		}
		s := v.subject(a, scope)
		if len(s.installed.Entries) == 0 && s.installed.Err == nil && len(s.unreadable) == 0 {
			continue
		}
		if !looked {
			looked, found = true, v.look(ctx, a)
		}
		s.found = found
		results = append(results, v.result(ctx, s))
	}
	return results
}

func (v *Verifier) look(ctx context.Context, a *install.Agent) install.Found {
	if v.Run == nil {
		return install.Found{Agent: a}
	}
	return v.Installer.Look(ctx, v.Run, v.Environ, a)
}

// result runs the checks of one installation.
func (v *Verifier) result(ctx context.Context, s *subject) Result {
	r := Result{
		Agent: s.agent.Name, Title: s.agent.Title, Scope: s.installed.Scope, Version: s.found.Version.String(),
		File: s.installed.File, Problems: []Problem{}, Doubts: []Problem{},
	}
	for _, c := range checks {
		if len(c.agents) > 0 && !slices.Contains(c.agents, s.agent.Name) {
			continue
		}
		for _, f := range c.find(s) {
			f.problem.Check = c.name
			if f.doubt {
				r.Doubts = append(r.Doubts, f.problem)
			} else {
				r.Problems = append(r.Problems, f.problem)
			}
		}
	}
	switch {
	case len(r.Problems) > 0:
		r.Verdict = Broken
	case len(r.Doubts) > 0:
		r.Verdict = CannotSay
	default:
		r.Verdict = Plausible
	}
	if v.Prove && r.Verdict != Broken {
		v.prove(ctx, s, &r)
	}
	return r
}

// Findings returns what keeps hookd from working, for hookd check. What a version is not
// known for is left to hookd verify.
func Findings(results []Result) (findings []schema.Finding) {
	add := func(p Problem, severity schema.Severity) {
		findings = append(findings, schema.NewFinding(schema.Pos{File: p.File, Line: p.Line}, "", severity, install.CodeUnable, p.Text, p.Remedy))
	}
	for i := range results {
		for _, p := range results[i].Problems {
			add(p, schema.SeverityError)
		}
		for _, p := range results[i].Doubts {
			if p.Check != "version" {
				add(p, schema.SeverityWarning)
			}
		}
	}
	return findings
}

// Exit codes of some results together.
const (
	ExitAlive     = 0 // all are proved or plausible
	ExitBroken    = 2 // one is broken
	ExitCannotSay = 4 // of one it cannot be said, or a named one is not installed
)

// Exit returns the exit code for some results.
func Exit(results []Result) int {
	exit := ExitAlive
	for i := range results {
		switch results[i].Verdict {
		case Broken:
			return ExitBroken
		case CannotSay, Absent:
			exit = ExitCannotSay
		}
	}
	return exit
}
