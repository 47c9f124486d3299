package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/internal/text"
)

// driver is how an agent is started so that its first hook call comes before it asks a
// model. It gets keys that are none, and an address at which nobody answers.
type driver struct {
	agent string
	args  []string
	env   []string
	bound bool // it trusts hooks of a project by the place where they stand
}

// nowhere is an address of this machine at which nobody listens.
const nowhere = "http://127.0.0.1:9"

// drivers is the table. The hook calls that come first are at the start of the session.
var drivers = []driver{
	{agent: "claude", args: []string{"-p", "hookd verify"},
		env: []string{"ANTHROPIC_API_KEY=hookd-verify", "ANTHROPIC_BASE_URL=" + nowhere, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}},
	{agent: "codex", args: []string{"exec", "--skip-git-repo-check", "-c", `model_provider="hookdverify"`, "-c", `model_providers.hookdverify={name="none",base_url="` + nowhere + `/v1",wire_api="responses",env_key="HOOKD_VERIFY_KEY"}`, "hookd verify"},
		env: []string{"HOOKD_VERIFY_KEY=none"}, bound: true},
	{agent: "gemini", args: []string{"-p", "hookd verify"}, // another address of the model would be another way to log in
		env: []string{"GEMINI_API_KEY=hookd-verify", "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_TELEMETRY_ENABLED=false",
			"HTTPS_PROXY=" + nowhere, "https_proxy=" + nowhere, "HTTP_PROXY=" + nowhere, "http_proxy=" + nowhere, "NO_PROXY=", "no_proxy="}},
	{agent: "qwen", args: []string{"-p", "hookd verify"},
		env: []string{"OPENAI_API_KEY=hookd-verify", "OPENAI_BASE_URL=" + nowhere + "/v1", "OPENAI_MODEL=none"}},
}

// Bounds of a proof.
const (
	proofLimit   = 40 * time.Second // agents that are written in JavaScript take seconds to start
	commandLimit = 20 * time.Second
	proofPoll    = 50 * time.Millisecond
)

// call is a program that is started and expected to have hookd called.
type call struct {
	program string
	args    []string
	dir     string
	environ []string
	stdin   string
	limit   time.Duration
}

// start starts a program until a mark was left, or it ended, or time is over; then nothing
// of it is alive. If no mark came it returns nil and how the program ended.
func (v *Verifier) start(ctx context.Context, c *call, marker *guest.Marker) (*guest.Mark, string) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	command := process.Command{
		Path: c.program, Argv: append([]string{c.program}, c.args...), Dir: c.dir, Env: c.environ, StdoutLimit: 1 << 20, Grace: time.Second,
	}
	if c.stdin != "" {
		command.Stdin = [][]byte{[]byte(c.stdin)}
	}
	ended := make(chan process.Result, 1)
	go func() { ended <- v.Run.Run(ctx, &command) }()
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
	return mark, endOf(&result, c.limit)
}

// endOf says how a program ended, with its last words.
func endOf(result *process.Result, limit time.Duration) string {
	how := fmt.Sprintf("it ended with exit code %d", result.ExitCode)
	if result.Err != nil || result.ExitCode < 0 {
		how = fmt.Sprintf("it was ended after %s", limit)
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
