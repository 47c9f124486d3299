//go:build unix

package loader

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/prove"
)

// The machine's hooks, each of which a lower layer would like to be without.
var machineHooks = map[string]string{
	// Takes a secret out of what goes on, and tells the model the company's policy.
	"a-redactor.sh": "#!/bin/sh\n# hook: events=tool-call-start can=modify timeout=5s\n" +
		`command=$(grep -o '"command":"[^"]*' | cut -d'"' -f4 | sed s/CANARY/redacted/)` + "\n" +
		`printf '%s\n' '{"action":"modify","changes":{"args":{"command":"'"$command"'"}},"context":"` + strings.Repeat(`a line of the policy\n`, 40) + `"}'` + "\n",
	// Refuses from the third call on. What it knows it keeps in its state.
	"b-counter.sh": "#!/bin/sh\n# hook: events=tool-call-start can=block timeout=5s\n" +
		`seen=$(grep -o '"state":{"seen":[0-9]*' | grep -o '[0-9]*$')` + "\n" +
		`seen=$((${seen:-0} + 1)); state='"state":{"seen":'$seen',"pad":"` + strings.Repeat("x", 600) + `"},"metadata":{"seen":'$seen'}'` + "\n" +
		`[ $seen -gt 2 ] && echo '{"action":"block","reason":"counted",'"$state"'}' || echo "{$state}"` + "\n",
	"c-guard.sh":   "#!/bin/sh\n# hook: events=tool-call-start can=block timeout=5s\n" + `grep -q forbidden && echo '{"action":"block","reason":"policy"}'; exit 0` + "\n",
	"d-auditor.sh": "#!/bin/sh\n# hook: events=* can=observe timeout=5s\n" + `id=$(grep -o '"id":"[^"]*' | head -1 | cut -d'"' -f4); sleep 0.02; echo "$id" >>SEEN` + "\n",
	"e-stop.sh":    "#!/bin/sh\n# hook: events=agent-stop can=block timeout=5s\n" + `cat >/dev/null; echo '{"action":"block","reason":"the tests do not pass"}'` + "\n",
}

// hostileHooks are hooks of a project that somebody allowed: slow, loud and wrong.
var hostileHooks = map[string]string{
	"0-loud.sh": "#!/bin/sh\n# hook: events=tool-call-start can=modify timeout=5s\n" + `cat >/dev/null; printf '{"context":"%065000d"}' 0` + "\n",
	"1-slow.sh": "#!/bin/sh\n# hook: events=* can=observe timeout=5s\ncat >/dev/null; sleep 0.1\n",
	"2-on.sh":   "#!/bin/sh\n# hook: events=agent-stop can=block timeout=5s\n" + `cat >/dev/null; echo '{"action":"continue","reason":"more"}'` + "\n",
}

// attempt is one value of one key in the settings of one layer.
type attempt struct {
	layer protocol.Layer
	key   *schema.Key
	value any
}

func (a attempt) String() string {
	text, _ := json.Marshal(a.value)
	return fmt.Sprintf("%s %s=%.60s", a.layer, a.key.Name, text)
}

// settings is the settings file that makes the attempt.
func (a attempt) settings(extra map[string]any) string {
	root := map[string]any{}
	put := func(name string, value any) {
		at, parts := root, strings.Split(name, ".")
		for _, part := range parts[:len(parts)-1] {
			if at[part] == nil {
				at[part] = map[string]any{}
			}
			at = at[part].(map[string]any)
		}
		at[parts[len(parts)-1]] = value
	}
	for name, value := range extra {
		put(name, value)
	}
	put(a.key.Name, a.value)
	text, _ := json.Marshal(root)
	return string(text)
}

// attempts are the tightest, loosest and odd values of every key of the table, in
// every layer below the machine's. A new key is among them by itself.
func attempts() []attempt {
	var all []attempt
	for i := range schema.Keys {
		k := &schema.Keys[i]
		for _, layer := range []protocol.Layer{protocol.Project, protocol.User} {
			for _, value := range valuesOf(k) {
				all = append(all, attempt{layer, k, value})
			}
		}
	}
	return all
}

func valuesOf(k *schema.Key) []any {
	odd := []any{-1, "", nil, map[string]any{"x": 1}, strings.Repeat("9", 400)}
	written := func(v any) any {
		if n, isNumber := v.(int64); isNumber {
			return n
		}
		if f, isNumber := v.(float64); isNumber {
			return f
		}
		return k.Write(v)
	}
	switch k.Type {
	case schema.TypeBool:
		return append(odd, true, false)
	case schema.TypeList:
		values := append(odd, []string{}, []string{"*"}, []string{"c-guard.sh"}, []string{"/"})
		for _, word := range k.Words {
			values = append(values, []string{word})
		}
		return append(values, k.Words)
	case schema.TypeEntries:
		values := odd
		for name := range machineHooks {
			values = append(values, []any{map[string]any{"name": name, "enabled": false, "mode": "audit", "can": "observe", "timeout": "10ms", "onFailure": "continue"}})
		}
		return values
	case schema.TypeText, schema.TypePrices, schema.TypeServers:
		return append(odd, "x", []any{}, map[string]any{})
	case schema.TypeWord:
		for _, word := range k.Words {
			odd = append(odd, word)
		}
		return odd
	}
	return append(odd, written(k.Min), written(k.Max))
}

// G22: whatever a lower layer sets, the machine's hooks are asked, answer, keep
// and take as if it were not there.
func TestHigherLayersStand(t *testing.T) {
	all := attempts()
	weakened := 0
	short := prove.Size(29, 1)
	made := 0
	for i, a := range all {
		if i%short != 0 {
			continue
		}
		made++
		t.Run(a.String(), func(t *testing.T) {
			if faults := fireUnder(t, a); len(faults) > 0 {
				weakened++
				t.Errorf("%s", strings.Join(faults, "\n"))
			}
		})
	}
	prove.Figure(t, "G22", "%d values of %d keys in two layers, under a loud, slow and stubborn project: %d weakenings of the machine's redactor, counter, guard, auditor and stop guard", made, len(schema.Keys), weakened)
}

func fireUnder(t *testing.T, a attempt) (faults []string) {
	w := newWorld(t)
	seen := filepath.Join(t.TempDir(), "seen")
	for name, text := range machineHooks {
		w.write(filepath.Join(w.managed, "hooks", name), strings.ReplaceAll(text, "SEEN", seen), 0o755)
	}
	w.write(filepath.Join(w.managed, "acai.json"), `{"hooks":{}}`, 0o644)
	for name, text := range hostileHooks {
		w.hook(name, text)
	}
	alone := w.load().Set.SettingsOf(protocol.Origin{Layer: protocol.Managed})
	always := map[string]any{"hooks.trust.always": []string{w.project}}
	if a.layer == protocol.User {
		w.userSettings(a.settings(always))
	} else {
		w.userSettings(attempt{protocol.User, schema.KeyByName("hooks.trust.always"), []string{w.project}}.settings(nil))
		w.settings(a.settings(nil))
	}
	s, err := Load(t.Context(), w.options())
	if err != nil {
		return []string{err.Error()}
	}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if now := s.Set.SettingsOf(protocol.Origin{Layer: protocol.Managed}); !reflect.DeepEqual(now, alone) {
		fault("the machine's hooks are bound by other settings: %+v, alone %+v", now, alone)
	}
	e := executor.New(s.Set, executor.Options{StateDir: filepath.Join(w.state, "hookd")})
	fired := 0
	fire := func(name protocol.EventName, data string) protocol.Outcome {
		fired++
		o, err := e.Fire(context.Background(), protocol.Event{
			Protocol: 1, Event: name, ID: fmt.Sprintf("E%d", fired), Time: time.Now(), Project: w.project, Cwd: w.project,
			Session: protocol.Session{ID: "s"}, Agent: protocol.Agent{ID: "main"}, Data: []byte(data),
		})
		if err != nil {
			fault("%s: %v", name, err)
		}
		return o
	}
	deep := strings.Repeat("[", 20) + strings.Repeat("]", 20)
	call := func(command string) protocol.Outcome {
		return fire(protocol.ToolCallStart, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"`+command+`","pad":"`+strings.Repeat("x", 3000)+`","deep":`+deep+`},"parallel":1}`)
	}
	checkPassed(call("ls CANARY"), fault)
	if o := call("forbidden"); !o.Refused() {
		fault("the guard: %s %v", o.Action, o.Runs)
	}
	if o := call("ls"); !o.Refused() {
		fault("the counter: %s %v", o.Action, o.Runs)
	}
	o := fire(protocol.AgentStop, `{"reason":"done","response":"x","messages":[],"continued":0,"continuedTotal":0}`)
	// A settings file that cannot be read may refuse all: the run then ends with an error.
	if o.Failure == "" && !slices.ContainsFunc(o.Runs, func(r protocol.Run) bool {
		return r.Hook == "e-stop.sh" && r.Action == protocol.Block && r.Failure == ""
	}) {
		fault("the stop guard: %s %v", o.Action, o.Runs)
	}
	if err := e.Close(context.Background()); err != nil && !strings.Contains(err.Error(), "record") {
		fault("close: %v", err)
	}
	text, _ := os.ReadFile(seen)
	for i := range fired {
		if !slices.Contains(strings.Fields(string(text)), fmt.Sprintf("E%d", i+1)) {
			fault("the auditor did not see event %d of %d", i+1, fired)
		}
	}
	return faults
}

// checkPassed checks the call that the machine's hooks let pass: a lower layer may
// refuse it, not see the secret through or cut the policy.
func checkPassed(o protocol.Outcome, fault func(string, ...any)) {
	if o.Refused() {
		return
	}
	if strings.Contains(string(o.Event.Data), "CANARY") {
		fault("the redactor: the secret passes: %v", o.Runs)
	}
	policy := slices.IndexFunc(o.Context, func(c protocol.HookText) bool { return c.Hook == "a-redactor.sh" })
	if policy < 0 || strings.Count(o.Context[policy].Text, "a line of the policy\n") != 40 {
		fault("the policy is cut: %v", o.Runs)
	}
}
