package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/install"
)

// driver is how an agent is started so that its first hook call comes before it asks a
// model. It gets keys that are none, and an address at which nobody answers.
type driver struct {
	agent string
	args  []string
	env   []string
}

// nowhere is an address of this machine at which nobody listens.
const nowhere = "http://127.0.0.1:9"

// drivers is the table. The hook calls that come first are at the start of the session.
var drivers = []driver{
	{"claude", []string{"-p", "hookd verify"},
		[]string{"ANTHROPIC_API_KEY=hookd-verify", "ANTHROPIC_BASE_URL=" + nowhere, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}},
	{"codex", []string{"exec", "--skip-git-repo-check", "-c", `model_provider="hookdverify"`, "-c", `model_providers.hookdverify={name="none",base_url="` + nowhere + `/v1",wire_api="responses",env_key="HOOKD_VERIFY_KEY"}`, "hookd verify"},
		[]string{"HOOKD_VERIFY_KEY=none"}},
	{"gemini", []string{"-p", "hookd verify"}, // another address of the model would be another way to log in
		[]string{"GEMINI_API_KEY=hookd-verify", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false",
			"HTTPS_PROXY=" + nowhere, "https_proxy=" + nowhere, "HTTP_PROXY=" + nowhere, "http_proxy=" + nowhere, "NO_PROXY=", "no_proxy="}},
	{"qwen", []string{"-p", "hookd verify"},
		[]string{"OPENAI_API_KEY=hookd-verify", "OPENAI_BASE_URL=" + nowhere + "/v1", "OPENAI_MODEL=none"}},
}

// Bounds of a proof.
const (
	proofLimit = 40 * time.Second // agents that are written in JavaScript take seconds to start
	proofPoll  = 50 * time.Millisecond
)

// prove starts the agent in an empty folder, and waits for the mark of its first hook
// call. It does so for installations that count in every folder.
func (v *Verifier) prove(ctx context.Context, s *subject, r *Result) {
	at := slices.IndexFunc(drivers, func(d driver) bool { return d.agent == s.agent.Name })
	switch {
	case s.installed.Scope == install.Project:
		r.Proof = "not tried: the hooks of a project are not tried in an empty folder"
		return
	case at < 0:
		r.Proof = "not tried: " + s.agent.Title + " cannot be driven without a model"
		return
	case v.Run == nil || s.found.Program == "":
		r.Proof = "not tried: the program of " + s.agent.Title + " is not on PATH"
		return
	}
	mark, ended, err := v.drive(ctx, &drivers[at], s.found.Program)
	switch {
	case err != nil:
		r.Proof = "not tried: " + err.Error()
	case mark == nil: // perhaps it did not come as far as its hooks
		r.Verdict = CannotSay
		r.Doubts = append(r.Doubts, Problem{Check: "proof", File: r.File,
			Text:   fmt.Sprintf("%s was started and did not call hookd: %s", s.agent.Title, ended),
			Remedy: "start it by hand and look for what it says of its hooks; confirm what it asks for"})
	case mark.Agent != s.agent.Name:
		r.Verdict = Broken
		r.Problems = append(r.Problems, Problem{Check: "proof", File: r.File,
			Text: fmt.Sprintf("%s called hookd as %s", s.agent.Title, mark.Agent), Remedy: s.again()})
	default:
		r.Proof = fmt.Sprintf("its call at %s reached %s", mark.Event, mark.Program)
		// It has hooks, whatever its version is.
		r.Doubts = slices.DeleteFunc(r.Doubts, func(p Problem) bool { return p.Check == "version" })
		if len(r.Doubts) == 0 {
			r.Verdict = Proved
		}
	}
}

// drive starts an agent until the bridge has left its mark, or time is over. If no mark
// came it returns nil and how the agent ended.
func (v *Verifier) drive(ctx context.Context, d *driver, program string) (*guest.Mark, string, error) {
	marker, err := guest.NewMarker(v.State)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = marker.Remove() }()
	dir, err := os.MkdirTemp("", "hookd-verify-")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	ctx, cancel := context.WithTimeout(ctx, proofLimit)
	defer cancel()
	ended := make(chan process.Result, 1)
	go func() {
		ended <- v.Run.Run(ctx, &process.Command{
			Path: program, Argv: append([]string{program}, d.args...), Dir: dir,
			Env: withVariables(v.Environ, append(d.env, guest.MarkerVar+"="+marker.Token)), StdoutLimit: 1 << 20, Grace: time.Second,
		})
	}()
	tick := time.NewTicker(proofPoll)
	defer tick.Stop()
	var mark *guest.Mark
	for running := true; running && mark == nil; {
		select {
		case result := <-ended:
			running = false
			<-result.Gone
			ended <- result
		case <-tick.C:
		}
		if m, seen := marker.Seen(); seen {
			mark = &m
		}
	}
	cancel()
	result := <-ended
	<-result.Gone
	return mark, endOf(&result), nil
}

// endOf says how an agent ended, with its last words.
func endOf(result *process.Result) string {
	how := fmt.Sprintf("it ended with exit code %d", result.ExitCode)
	if result.Err != nil || result.ExitCode < 0 {
		how = fmt.Sprintf("it was ended after %s", proofLimit)
	}
	words := strings.TrimSpace(string(result.Stderr))
	if words == "" {
		words = strings.TrimSpace(string(result.Stdout))
	}
	if at := strings.LastIndexByte(words, '\n'); at >= 0 {
		words = words[at+1:]
	}
	if words != "" {
		how += ", and said: " + text.Shorten(plainText(words), 160)
	}
	return how
}

// withVariables returns an environment with other values of some variables.
func withVariables(environ, variables []string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(have string) bool {
		name, _, _ := strings.Cut(have, "=")
		return slices.ContainsFunc(variables, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	})
	return append(env, variables...)
}
