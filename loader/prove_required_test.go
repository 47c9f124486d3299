//go:build unix

package loader

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// A sabotage keeps a required hook from answering: before the load, between load
// and event, or while it runs.
type sabotage struct {
	name   string
	body   func(r *rand.Rand) string              // what the hook does in place of answering, "" for a good answer
	before func(w *world, r *rand.Rand, p string) // at the file p, before the load
	after  func(w *world, r *rand.Rand, p string) // between load and event
}

const goodAnswer = "cat >/dev/null; echo '{\"action\":\"observe\",\"notice\":\"fine\"}'\n"

func pickOne[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

var sabotages = []sabotage{
	{name: "exits with a code", body: func(r *rand.Rand) string { return goodAnswer + fmt.Sprintf("exit %d", 1+r.IntN(255)) }},
	{name: "exits without a word", body: func(r *rand.Rand) string { return fmt.Sprintf("exit %d", 1+r.IntN(255)) }},
	{name: "killed by itself", body: func(r *rand.Rand) string {
		return goodAnswer + "kill -" + pickOne(r, "KILL", "TERM", "SEGV", "ABRT", "HUP", "PIPE", "INT", "USR1") + " $$; sleep 5"
	}},
	{name: "killed from outside", body: func(r *rand.Rand) string {
		return fmt.Sprintf("(sleep 0.0%02d; kill -9 $$) & sleep 5\n", r.IntN(30)) + goodAnswer
	}},
	{name: "too slow", body: func(r *rand.Rand) string { return "sleep 5\n" + goodAnswer }},
	{name: "answers, then never ends", body: func(r *rand.Rand) string { return goodAnswer + "sleep 5" }},
	{name: "answer cut", body: func(r *rand.Rand) string {
		answer := `{"action":"observe","notice":"fine"}`
		return "printf '%s' '" + answer[:1+r.IntN(len(answer)-1)] + "'"
	}},
	{name: "not an answer", body: func(r *rand.Rand) string {
		return "printf '%s' '" + pickOne(r, "ok", "[]", "42", `"observe"`, "true", "null", `{"action":"alow"}`, `{"action":null}`, `{"action":7}`, `{"verdict":"ok"}`, `{"action":"observe","notice":7}`, "NaN", "{}{}", `{"action":"observe","action":"observe"}`) + "'"
	}},
	{name: "answers twice", body: func(r *rand.Rand) string { return goodAnswer + goodAnswer }},
	{name: "bytes that are no text", body: func(r *rand.Rand) string { return `printf '{"action":"observe","notice":"\377"}'` }},
	{name: "flood", body: func(r *rand.Rand) string { return "head -c 3000000 /dev/zero | tr '\\0' x\n" + goodAnswer }},
	{name: "change of what is protected", body: func(r *rand.Rand) string {
		return `echo '{"action":"modify","patch":[{"op":"` + pickOne(r, "replace", "add", "remove") + `","path":"/name","value":"x"}]}'`
	}},
	{name: "removed", before: func(w *world, r *rand.Rand, p string) { os.Remove(p) }},
	{name: "made empty", before: func(w *world, r *rand.Rand, p string) { w.write(p, "", 0o755) }},
	{name: "not executable", before: func(w *world, r *rand.Rand, p string) {
		os.Chmod(p, pickOne[os.FileMode](r, 0o644, 0o600, 0o444, 0o000))
	}},
	{name: "writable by all", before: func(w *world, r *rand.Rand, p string) { os.Chmod(p, 0o777) }},
	{name: "a folder in its place", before: func(w *world, r *rand.Rand, p string) { os.Remove(p); os.Mkdir(p, 0o755) }},
	{name: "a link to nowhere", before: func(w *world, r *rand.Rand, p string) { os.Remove(p); os.Symlink("/no/such/file", p) }},
	{name: "interpreter gone", before: func(w *world, r *rand.Rand, p string) {
		text, _ := os.ReadFile(p)
		w.write(p, strings.Replace(string(text), "#!/bin/sh", pickOne(r, "#!/no/such/sh", "#!/usr/bin/env no-such-sh", "#!", "#!/bin/sh\r", "# no line"), 1), 0o755)
	}},
	{name: "renamed", before: func(w *world, r *rand.Rand, p string) { os.Rename(p, p+pickOne(r, ".bak", "~", ".orig", "2")) }},
	{name: "removed behind the load", after: func(w *world, r *rand.Rand, p string) { os.Remove(p) }},
	{name: "made empty behind the load", after: func(w *world, r *rand.Rand, p string) { w.write(p+".new", "", 0o755); os.Rename(p+".new", p) }},
	{name: "not executable behind the load", after: func(w *world, r *rand.Rand, p string) { os.Chmod(p, 0o000) }},
}

// G13: a required hook really answered, or the event does not pass, whatever its
// class and rule, and whatever keeps it from answering.
func TestSabotagedRequiredHook(t *testing.T) {
	rounds, passed := prove.Size(len(sabotages), 500), 0
	for i := range rounds {
		r := rand.New(rand.NewPCG(13, uint64(i)))
		s := sabotages[i%len(sabotages)]
		class, rule := pickOne(r, "observe", "block", "modify"), pickOne(r, "block", "stop")
		t.Run(fmt.Sprintf("%s/%s/%s/%d", s.name, class, rule, i), func(t *testing.T) {
			w := newWorld(t)
			body := goodAnswer
			if s.body != nil {
				body = s.body(r)
			}
			header := fmt.Sprintf("#!/bin/sh\n# hook: events=tool-call-start can=%s required=true onFailure=%s timeout=400ms\n", class, rule)
			w.userHook("must.sh", header+body)
			w.userSettings(`{"hooks":{"required":["must.sh"]}}`)
			path := w.home + "/.acai/hooks/must.sh"
			if s.before != nil {
				s.before(w, r, path)
			}
			snapshot, err := Load(context.Background(), w.options())
			if err != nil {
				t.Fatal(err)
			}
			if s.after != nil {
				s.after(w, r, path)
			}
			if o := w.fire(snapshot.Set); o.Action != protocol.Block && o.Action != protocol.Stop || o.Failure == "" && s.body == nil {
				passed++
				t.Errorf("the event passes with %s by %q: %+v", o.Action, o.Failure, o.Runs)
			}
		})
	}
	// The same hook, left alone, lets the event pass.
	w := newWorld(t)
	w.userHook("must.sh", "#!/bin/sh\n# hook: events=tool-call-start can=observe required=true onFailure=block timeout=20s\n"+goodAnswer)
	if o := w.fire(w.load().Set); o.Refused() {
		t.Errorf("a required hook that answered refuses: %+v", o)
	}
	prove.Figure(t, "G13", "%d sabotages of a required program: %d passes", rounds, passed)
}
