//go:build unix

package exechook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/internal/worker"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// modes makes hooks whose processes are started before their event.
type modes struct {
	*scripts
	pool *Pool
	set  *executor.Set
}

func newModes(t *testing.T) *modes {
	t.Helper()
	s := newScripts(t)
	m := &modes{scripts: s, pool: NewPool(s.rt)}
	t.Cleanup(func() {
		m.pool.Close()
		if left := m.alive(); len(left) > 0 {
			t.Errorf("alive after the pool was closed: %v", left)
		}
	})
	return m
}

// hook writes a script and makes a hook of it. Each process of it adds its pid to
// the file NAME.pids when it starts.
func (m *modes) hook(name string, mode schema.RunMode, timeout time.Duration, body string) *executor.Hook {
	m.t.Helper()
	h := m.scripts.hook(name, protocol.CanBlock, timeout, "echo $$ >>$OUT/"+name+".pids\n"+body)
	h.Run, h.OnFailure = mode, protocol.RuleBlock
	h.Asker = m.pool.Asker(m.config(h))
	return h
}

func (m *modes) config(h *executor.Hook) WorkerConfig {
	return WorkerConfig{
		Program: Config{Path: h.Path, Dir: m.dir, HookFile: h.Path, Env: []string{"PATH=" + os.Getenv("PATH"), "OUT=" + m.dir}},
		Layer:   h.Layer, Name: h.Name, Hash: h.Hash, Mode: h.Run,
		Pool: 1, Idle: time.Minute, Grace: 100 * time.Millisecond, Stderr: 4096,
	}
}

// rule has a pool keep processes for hooks, and returns an executor that asks them.
func (m *modes) activate(hooks ...*executor.Hook) *executor.Executor {
	m.t.Helper()
	limits := schema.Limits{Reply: 64 << 10}
	set, errs := executor.NewSet(executor.Set{Hooks: hooks, Settings: schema.Settings{Hooks: hooktest.Settings(schema.HookSettings{Limits: limits, Grace: time.Second})}})
	if len(errs) > 0 {
		m.t.Fatal(errs)
	}
	m.pool.SetActive(m.set, set)
	m.set = set
	e := executor.New(set, executor.Options{StateDir: filepath.Join(m.dir, "state")})
	m.t.Cleanup(func() { e.Close(context.Background()) })
	return e
}

// started returns the processes of a hook so far.
func (m *modes) started(name string) []string {
	text, _ := os.ReadFile(filepath.Join(m.dir, name+".pids"))
	return strings.Fields(string(text))
}

// alive returns the processes of all hooks that live.
func (m *modes) alive() (alive []string) {
	files, _ := filepath.Glob(filepath.Join(m.dir, "*.pids"))
	for _, file := range files {
		for _, id := range m.started(strings.TrimSuffix(filepath.Base(file), ".pids")) {
			var pid int
			if fmt.Sscan(id, &pid); isAlive(pid) {
				alive = append(alive, id)
			}
		}
	}
	return alive
}

// await waits until a hook has started n processes and one of them is ready.
func (m *modes) await(h *executor.Hook, n int) {
	m.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if len(m.started(h.Name)) >= n && m.ready(h) > 0 {
			return
		}
	}
	m.t.Fatalf("%s has started %v, %+v", h.Name, m.started(h.Name), h.PoolState())
}

func (m *modes) ready(h *executor.Hook) int { return h.PoolState().Ready }

const (
	readID   = `id=$(sed 's/.*"event":"[^"]*","id":"\([^"]*\)".*/\1/')` + "\n"
	idOf     = `id=$(printf %s "$line" | head -c 200 | sed 's/.*"event":"[^"]*","id":"\([^"]*\)".*/\1/');`
	loopByID = `while read -r line; do id=$(expr "$line" : '.*"event":"[^"]*","id":"\([^"]*\)"')` + "\n"
)

func toolCall(session, id string) protocol.Event {
	return protocol.Event{Event: protocol.ToolCallStart, ID: id, Session: protocol.Session{ID: session}, Data: []byte(`{"toolCallId":"c","name":"bash","kind":"shell","args":{}}`)}
}

// TestStandby: the process that answers was there before the event; the next one
// is there after it; an answer with the id does not wait for the end.
func TestStandby(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Standby, 5*time.Second, readID+`echo "{\"id\":\"$id\",\"action\":\"block\",\"reason\":\"$HOOK_MODE$HOOK_EVENT $$\"}"; sleep 60`)
	e := m.activate(h)
	m.await(h, 1)
	for i := 1; i <= 3; i++ {
		began := time.Now()
		outcome := hooktest.Fire(t, e, toolCall("s", ""))
		if want := "standby " + m.started("guard.sh")[i-1]; outcome.Reason != want || outcome.Action != protocol.Block {
			t.Fatalf("%s, %q, want %q", outcome.Action, outcome.Reason, want)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("took %s", took)
		}
		m.await(h, i+1)
	}
}

// TestResident: one process per session, asked line by line.
func TestResident(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, 5*time.Second, `n=0; `+loopByID+`n=$((n+1)); echo note; echo "{\"id\":\"$id\",\"action\":\"block\",\"reason\":\"$HOOK_MODE $n\"}"; done`)
	e := m.activate(h)
	for i, want := range []string{"resident 1", "resident 2", "resident 3"} {
		if outcome := hooktest.Fire(t, e, toolCall("s", "")); outcome.Reason != want {
			t.Fatalf("event %d: %s, %q", i, outcome.Action, outcome.Reason)
		}
	}
	if outcome := hooktest.Fire(t, e, toolCall("other", "")); outcome.Reason != "resident 1" {
		t.Errorf("another session: %q", outcome.Reason)
	}
	if got := m.started("guard.sh"); len(got) != 2 {
		t.Errorf("started %v", got)
	}
}

// wantAnswer is what a table expects of one event.
type wantAnswer struct {
	Action  protocol.Action
	Failure protocol.FailureKind
	Reason  string
	Warning string // part of one, * for any or none
}

func (m *modes) ask(e *executor.Executor, ev protocol.Event) wantAnswer {
	m.t.Helper()
	outcome := hooktest.Fire(m.t, e, ev)
	run := outcome.Runs[0]
	got := wantAnswer{Action: run.Action, Failure: run.Failure, Reason: run.Reason}
	if run.Failure != "" {
		got.Reason = run.Detail
	}
	if len(run.Warnings) > 0 {
		got.Warning = run.Warnings[0]
	}
	return got
}

func (want wantAnswer) check(t *testing.T, got wantAnswer) {
	t.Helper()
	if got.Action != want.Action || got.Failure != want.Failure || !strings.Contains(got.Reason, want.Reason) || !strings.Contains(got.Warning, want.Warning) && want.Warning != "*" || want.Warning == "" && got.Warning != "" && want.Failure != "output" {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestStandbyReads: how a reply is read, and which process gets the event.
func TestStandbyReads(t *testing.T) {
	const no = `{\"action\":\"block\",\"reason\":\"no\"}`
	for name, test := range map[string]struct {
		script string
		seen   int // processes that read the event
		want   wantAnswer
	}{
		"read at exit":               {`cat >>$OUT/seen; echo "` + no + `"`, 1, wantAnswer{Action: "block", Reason: "no"}},
		"nothing":                    {`cat >>$OUT/seen`, 1, wantAnswer{Action: "observe"}},
		"exit 2 blocks":              {`cat >>$OUT/seen; echo why >&2; exit 2`, 1, wantAnswer{Action: "block", Reason: "why"}},
		"exit 3":                     {`cat >>$OUT/seen; exit 3`, 1, wantAnswer{Failure: "exit", Reason: "exit code 3"}},
		"a signal":                   {`cat >>$OUT/seen; kill -9 $$`, 1, wantAnswer{Failure: "signal", Reason: "SIGKILL"}},
		"the id ends the turn":       {readID + `echo "{\"id\":\"$id\"}"; exec sleep 60`, 0, wantAnswer{Action: "observe"}},
		"exit code after the id":     {readID + `echo "{\"id\":\"$id\"}"; exit 1`, 0, wantAnswer{Action: "observe"}},
		"later output":               {readID + `printf '{"id":"%s","action":"observe"}\n{"id":"%s","action":"block"}\n' "$id" "$id"`, 0, wantAnswer{Action: "observe"}},
		"over several lines":         {readID + `printf 'text\n{\n "id":"%s",\n "action":"block","reason":"r"\n}\n' "$id"; sleep 60`, 0, wantAnswer{Action: "block", Reason: "r", Warning: "text"}},
		"another id":                 {`cat >>$OUT/seen; echo '{"id":"x","action":"observe"}'`, 1, wantAnswer{Failure: "reply", Reason: "repeats the id"}},
		"a child has the pipe":       {`cat >>$OUT/seen; (sleep 0.05; echo "` + no + `"; sleep 60) & exit 0`, 1, wantAnswer{Action: "block", Reason: "no", Warning: "kept its output open"}},
		"closes stdout and stays":    {`cat >>$OUT/seen; exec >&-; sleep 60`, 1, wantAnswer{Failure: "timeout"}},
		"too slow":                   {`cat >>$OUT/seen; sleep 60`, 1, wantAnswer{Failure: "timeout"}},
		"last words":                 {`cat >>$OUT/seen; echo "` + no + `"; sleep 60`, 1, wantAnswer{Action: "block", Reason: "no"}},
		"a flood":                    {`cat >>$OUT/seen; yes`, 1, wantAnswer{Failure: "output"}},
		"reads a little, then dies":  {`head -c 1 >>$OUT/seen; exit 3`, 1, wantAnswer{Failure: "exit"}},
		"dies when the event comes":  {`while [ ! -e $OUT/go ]; do sleep 0.01; done; [ -e $OUT/once ] && cat >>$OUT/seen && exit 0; : >$OUT/once; exit 3`, 1, wantAnswer{Action: "observe", Warning: "before it had read anything"}},
		"answers without reading":    {`while [ ! -e $OUT/go ]; do sleep 0.01; done; [ -e $OUT/once ] && cat >>$OUT/seen && exit 0; : >$OUT/once; echo "` + no + `"`, 1, wantAnswer{Action: "observe", Warning: "before it had read anything"}},
		"writes before it was asked": {`[ -e $OUT/once ] || echo "` + no + `"; : >$OUT/once; cat >>$OUT/seen`, 1, wantAnswer{Action: "observe", Warning: "not fit for run: standby"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModes(t)
			limit := 5 * time.Second
			switch {
			case test.want.Failure == "timeout":
				limit = 300 * time.Millisecond
			case name == "last words":
				limit = time.Second // in which it must come to its words
			}
			h := m.hook("guard.sh", schema.Standby, limit, test.script)
			e := m.activate(h)
			m.await(h, 1)
			if strings.Contains(test.script, "OUT/once ] ||") {
				awaitFile(t, filepath.Join(m.dir, "once"))
			}
			if strings.Contains(test.script, "OUT/go") {
				time.AfterFunc(50*time.Millisecond, func() { os.WriteFile(filepath.Join(m.dir, "go"), nil, 0o600) })
			}
			began := time.Now()
			test.want.check(t, m.ask(e, toolCall("s", "")))
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("took %s", took)
			}
			if seen, _ := os.ReadFile(filepath.Join(m.dir, "seen")); strings.Count(string(seen), "{\"protocol\"")+strings.Count(string(seen), "{")*btoi(len(seen) == 1) != test.seen {
				t.Errorf("the event was read %q", seen)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	for range 1000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s did not come", path)
}

// late is the record's late line of session s.
func (m *modes) late() (late record.Late) {
	m.t.Helper()
	for line, problem := range record.Read(filepath.Join(m.dir, "state", "records"), "s") {
		if problem != nil {
			m.t.Fatal(problem)
		}
		if line.Kind == record.KindLate {
			if err := line.Decode(&late); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	return late
}

// TestStandbyLate: what a process does after its answer is recorded, and it has
// the grace time.
func TestStandbyLate(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Standby, 5*time.Second, readID+`echo "{\"id\":\"$id\"}"; sleep 0.02; echo more; echo err >&2; exit 7`)
	e := m.activate(h)
	m.await(h, 1)
	hooktest.Fire(t, e, toolCall("s", ""))
	e.Close(context.Background())
	late := m.late()
	if late.Run.Exit == nil || *late.Run.Exit != 7 || late.Run.Stderr != "err\n" || len(late.Run.Warnings) != 1 || !strings.Contains(late.Run.Warnings[0], `"more\n"`) {
		t.Errorf("late line %+v", late.Run)
	}
}

// TestStandbyIsReplaced: a process that dies while it waits is replaced, later
// each time, and an event that meets none is wantAnswer all the same.
func TestStandbyIsReplaced(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Standby, 5*time.Second, `[ -e $OUT/well ] || exit 1; cat >/dev/null; exit 2`)
	e := m.activate(h)
	time.Sleep(450 * time.Millisecond)
	if n := len(m.started("guard.sh")); n > 4 {
		t.Errorf("%d processes in 450 ms", n)
	}
	for begin := time.Now(); h.PoolState().Restarts < 2 && time.Since(begin) < 20*time.Second; { // a loaded machine starts fewer
		time.Sleep(20 * time.Millisecond)
	}
	os.WriteFile(filepath.Join(m.dir, "well"), nil, 0o600)
	if got := m.ask(e, toolCall("s", "")); got.Action != protocol.Block {
		t.Errorf("%+v", got)
	}
	if state := h.PoolState(); state.Restarts < 2 {
		t.Errorf("%+v", state)
	}
}

// TestPoolRules: a process belongs to what it was started with.
func TestPoolRules(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Standby, 5*time.Second, `cat >/dev/null; echo "{\"action\":\"block\",\"reason\":\"$$ $V\"}"`)
	m.activate(h)
	m.await(h, 1)
	first := m.started("guard.sh")[0]
	same := *h
	same.Asker = m.pool.Asker(m.config(&same))
	e := m.activate(&same)
	if got := m.ask(e, toolCall("s", "")); strings.TrimSpace(got.Reason) != first {
		t.Errorf("the same hook in a new set: %+v, the process that waited was %s", got, first)
	}
	m.await(h, 2)
	changed := *h
	config := m.config(&changed)
	config.Program.Env = append(config.Program.Env, "V=new")
	changed.Asker = m.pool.Asker(config)
	old := executor.New(m.set, executor.Options{})
	defer old.Close(context.Background())
	e = m.activate(&changed)
	m.await(&changed, 3)
	waited := m.started("guard.sh")
	if got := m.ask(e, toolCall("s", "")); got.Reason != waited[2]+" new" {
		t.Errorf("a changed hook: %+v of %v", got, waited)
	}
	if got := m.ask(old, toolCall("s", "")); slices.Contains(waited, strings.TrimSpace(got.Reason)) || strings.Contains(got.Reason, "new") {
		t.Errorf("an event of the old set: %+v of %v", got, waited)
	}
	m.activate()
	for range 200 {
		if len(m.alive()) == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if left := m.alive(); len(left) > 0 {
		t.Errorf("without a hook there is still %v", left)
	}
}

// TestFileChanges: a process started from an older file is not used, also before
// the loader knows.
func TestFileChanges(t *testing.T) {
	for _, mode := range []schema.RunMode{schema.Standby, schema.Resident} {
		m := newModes(t)
		script := `echo $$ >>$OUT/guard.sh.pids; read -r line; id=$(expr "$line" : '.*"event":"[^"]*","id":"\([^"]*\)"'); echo "{\"id\":\"$id\",\"action\":\"block\",\"reason\":\"VERSION\"}"; read -r line`
		h := m.hook("guard.sh", mode, 5*time.Second, strings.ReplaceAll(script, "VERSION", "old"))
		e := m.activate(h)
		if mode == schema.Standby {
			m.await(h, 1)
		} else {
			m.ask(e, toolCall("s", ""))
		}
		before, err := os.Stat(h.Path)
		if err == nil {
			err = os.WriteFile(h.Path, []byte("#!/bin/sh\n"+strings.ReplaceAll(script, "VERSION", "new")), 0o700)
		}
		if err == nil { // of the same size and, but for the change time, as old
			err = os.Chtimes(h.Path, time.Time{}, before.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := m.ask(e, toolCall("s", "")); got.Reason != "new" {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}

// TestPoolShrinks: unused processes end, and come back with use.
func TestPoolShrinks(t *testing.T) {
	m := newModes(t)
	standby := m.hook("standby.sh", schema.Standby, 5*time.Second, `cat >/dev/null`)
	resident := m.hook("resident.sh", schema.Resident, 5*time.Second, loopByID+`echo "{\"id\":\"$id\"}"; done`)
	for _, h := range []*executor.Hook{standby, resident} {
		config := m.config(h)
		config.Idle = 500 * time.Millisecond
		h.Asker = m.pool.Asker(config)
	}
	e := m.activate(standby, resident)
	for round := 1; round <= 2; round++ {
		hooktest.Fire(t, e, toolCall("s", ""))
		m.await(standby, round)
		m.await(resident, round)
		time.Sleep(900 * time.Millisecond)
		if left := m.alive(); len(left) > 0 {
			t.Errorf("round %d: unused %v are alive; %+v %+v", round, left, standby.PoolState(), resident.PoolState())
		}
	}
}

// TestResidentReads: only a line with the event's id is an answer.
func TestResidentReads(t *testing.T) {
	for name, test := range map[string]struct {
		script string // in the loop, with $id
		want   [2]wantAnswer
	}{
		"notes":                 {`echo hello; echo '{"action":"block"}'; echo '[1]'; echo "{\"id\":\"$id\",\"action\":\"allow\"}"`, [2]wantAnswer{{Action: "observe", Warning: "hello"}, {Action: "observe", Warning: "hello"}}},
		"another id":            {`echo '{"id":"x","action":"block"}'`, [2]wantAnswer{{Failure: "timeout"}, {Failure: "timeout"}}},
		"an id inside":          {`echo "{\"a\":{\"id\":\"$id\"},\"action\":\"block\"}"`, [2]wantAnswer{{Failure: "timeout"}, {Failure: "timeout"}}},
		"an earlier event's":    {`echo "{\"id\":\"${last:-x}\",\"action\":\"block\"}"; last=$id; echo "{\"id\":\"$id\"}"`, [2]wantAnswer{{Action: "observe", Warning: "text on stdout"}, {Action: "observe", Warning: "text on stdout"}}},
		"two answers to one":    {`printf '{"id":"%s"}\n{"id":"%s","action":"block"}\n' $id $id`, [2]wantAnswer{{Action: "observe", Warning: "*"}, {Action: "observe", Warning: "were not read"}}},
		"bad answer":            {`echo "{\"id\":\"$id\",\"action\":\"dance\"}"`, [2]wantAnswer{{Failure: "reply"}, {Failure: "reply"}}},
		"a block that is wrong": {`echo "{\"id\":\"$id\",\"action\":\"block\",\"reason\":\"r\",\"what\":1}"`, [2]wantAnswer{{Action: "block", Reason: "r", Warning: "unknown member"}, {Action: "block", Reason: "r", Warning: "unknown member"}}},
		"two ids":               {`echo "{\"id\":\"x\",\"id\":\"$id\",\"action\":\"observe\"}"`, [2]wantAnswer{{Failure: "reply", Reason: "repeat"}, {Failure: "reply"}}},
		"two ids, a block":      {`echo "{\"id\":\"x\",\"id\":\"$id\",\"action\":\"block\",\"reason\":\"r\"}"`, [2]wantAnswer{{Action: "block", Reason: "r", Warning: "*"}, {Action: "block", Reason: "r", Warning: "*"}}},
		"over two lines":        {`printf '{"id":"%s",\n"action":"block"}\n' $id`, [2]wantAnswer{{Failure: "timeout"}, {Failure: "timeout"}}},
		"dies":                  {`exit 3`, [2]wantAnswer{{Failure: "lost", Reason: "exit code 3"}, {Failure: "lost", Reason: "exit code 3"}}},
		"answers and dies":      {`echo "{\"id\":\"$id\",\"action\":\"block\"}"; exit 3`, [2]wantAnswer{{Action: "block"}, {Action: "block"}}},
		"its last words":        {`printf '{"id":"%s","action":"block"}' $id; exit 3`, [2]wantAnswer{{Action: "block"}, {Action: "block"}}},
		"closes stdout":         {`exec >&-`, [2]wantAnswer{{Failure: "lost"}, {Failure: "lost"}}},
		"many notes":            {`i=0; while [ $i -lt 150 ]; do echo n; i=$((i+1)); done; echo "{\"id\":\"$id\",\"action\":\"block\"}"`, [2]wantAnswer{{Failure: "output", Reason: "100 lines"}, {Failure: "output"}}},
		"a flood":               {`yes yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy | tr -d '\n'`, [2]wantAnswer{{Failure: "output"}, {Failure: "output"}}},
		"a long line":           {`head -c 70000 /dev/zero | tr '\0' x; echo "{\"id\":\"$id\",\"action\":\"block\"}"`, [2]wantAnswer{{Failure: "output"}, {Failure: "output"}}},
		"a flood after it":      {`echo "{\"id\":\"$id\"}"; yes & sleep 0.1`, [2]wantAnswer{{Action: "observe", Warning: "*"}, {Failure: "output"}}},
		"silent":                {`:`, [2]wantAnswer{{Failure: "timeout"}, {Failure: "timeout"}}},
		"a child has the pipe":  {`sleep 60 & exit 0`, [2]wantAnswer{{Failure: "lost"}, {Failure: "lost"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModes(t)
			limit := 5 * time.Second
			if test.want[0].Failure == "timeout" {
				limit = 200 * time.Millisecond
			}
			h := m.hook("guard.sh", schema.Resident, limit, loopByID+test.script+"\ndone")
			e := m.activate(h)
			for i, want := range test.want {
				began := time.Now()
				got := m.ask(e, toolCall("s", ""))
				want.check(t, got)
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("event %d took %s", i, took)
				}
			}
		})
	}
}

// TestResidentBeforeAsked: what a process writes before a question is no answer to
// it, even if it guesses the id.
func TestResidentBeforeAsked(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, time.Second, `read -r line; echo '{"id":"one"}'; until [ -e $OUT/heard ]; do sleep 0.01; done; echo '{"id":"two","action":"observe"}'; : >$OUT/done; read -r line; echo '{"id":"two","action":"block"}'; read -r line`)
	e := m.activate(h)
	m.ask(e, toolCall("s", "one"))
	if err := os.WriteFile(filepath.Join(m.dir, "heard"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, filepath.Join(m.dir, "done"))
	wantAnswer{Action: "block", Warning: "before it was asked"}.check(t, m.ask(e, toolCall("s", "two")))
}

// TestResidentTurns: one event at a time; who waits does not use up the hook's own
// limit; other sessions are not held up.
func TestResidentTurns(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, 850*time.Millisecond, loopByID+`sleep 0.3; echo "{\"id\":\"$id\",\"action\":\"block\",\"reason\":\"$$\"}"; done`)
	e := m.activate(h)
	began := time.Now()
	var all sync.WaitGroup
	var mu sync.Mutex
	var reasons []string
	for i := range 4 {
		session := "s"
		if i == 3 {
			session = "other"
		}
		all.Go(func() {
			got := m.ask(e, toolCall(session, ""))
			mu.Lock()
			defer mu.Unlock()
			reasons = append(reasons, got.Reason)
			if got.Action != protocol.Block {
				t.Errorf("%+v", got)
			}
		})
	}
	all.Wait()
	slices.Sort(reasons)
	if took := time.Since(began); took < 900*time.Millisecond || took > 3*time.Second || len(slices.Compact(reasons)) != 2 {
		t.Errorf("three in a row took %s, wantAnswer by %v", took, reasons)
	}
}

// TestResidentAbort: an abort ends the process and its tree, and gives control back
// at once.
func TestResidentAbort(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, 5*time.Second, loopByID+`[ -n "$again" ] || : >$OUT/asked; sleep 60 & echo $! >>$OUT/guard.sh.pids; wait; done`)
	e := m.activate(h)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		awaitFile(t, filepath.Join(m.dir, "asked"))
		cancel(errors.New("enough"))
	}()
	began := time.Now()
	if _, err := e.Fire(ctx, toolCall("s", "")); err == nil {
		t.Error("no error")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %s", took)
	}
	time.Sleep(300 * time.Millisecond)
	if left := m.alive(); len(left) > 0 {
		t.Errorf("alive: %v", left)
	}
}

// TestResidentSessions: so many at once, the one longest unused goes; the end of a
// session ends its process.
func TestResidentSessions(t *testing.T) {
	m := newModes(t)
	h := m.hook("guard.sh", schema.Resident, 5*time.Second, loopByID+`n=$((n+1)); echo "{\"id\":\"$id\",\"action\":\"block\",\"reason\":\"$n\"}"; done`)
	e := m.activate(h)
	for i := range worker.MaxSessions + 1 {
		m.ask(e, toolCall(fmt.Sprint(i), ""))
	}
	for range 100 {
		if len(m.alive()) <= worker.MaxSessions {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(m.alive()); n != worker.MaxSessions {
		t.Errorf("%d processes for %d sessions", n, worker.MaxSessions+1)
	}
	if got := m.ask(e, toolCall("8", "")); got.Reason != "2" {
		t.Errorf("the newest session's process: %+v", got)
	}
	hooktest.Fire(t, e, protocol.Event{Event: protocol.SessionEnd, Session: protocol.Session{ID: "8"}})
	if got := m.ask(e, toolCall("8", "")); got.Reason != "1" {
		t.Errorf("after the end of the session: %+v", got)
	}
	e.Forget("8")
	if got := m.ask(e, toolCall("8", "")); got.Reason != "1" {
		t.Errorf("a forgotten session: %+v", got)
	}
}

// TestSessionEndIsHeard: the process of an observer hears of the end of its
// session and then goes.
func TestSessionEndIsHeard(t *testing.T) {
	m := newModes(t)
	h := m.hook("count.sh", schema.Resident, 5*time.Second, loopByID+`n=$((n+1)); echo "$n" >>$OUT/counts; echo "{\"id\":\"$id\"}"; done`)
	h.Can, h.Events = protocol.CanObserve, []protocol.EventName{protocol.ToolCallStart, protocol.SessionEnd}
	e := m.activate(h)
	for range 3 {
		hooktest.Fire(t, e, toolCall("s", ""))
	}
	hooktest.Fire(t, e, protocol.Event{Event: protocol.SessionEnd, Session: protocol.Session{ID: "s"}})
	e.Forget("s")
	e.Close(context.Background())
	counts, _ := os.ReadFile(filepath.Join(m.dir, "counts"))
	if diff := cmp.Diff("1\n2\n3\n4\n", string(counts)); diff != "" {
		t.Error(diff)
	}
	for range 100 {
		if len(m.alive()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("alive: %v", m.alive())
}

// TestModesWithoutRule: a pool in which nothing rules keeps nothing: standby runs
// once per event, and a resident process gets one line and the end of its input.
func TestModesWithoutRule(t *testing.T) {
	m := newModes(t)
	set, _ := executor.NewSet(executor.Set{Hooks: []*executor.Hook{
		m.hook("a.sh", schema.Standby, 5*time.Second, `cat >/dev/null; echo "{\"notice\":\"$HOOK_MODE$HOOK_EVENT\"}"`),
		m.hook("b.sh", schema.Resident, 5*time.Second, loopByID+`echo "{\"id\":\"$id\",\"notice\":\"$HOOK_MODE$HOOK_EVENT\"}"; done; : >$OUT/end`),
	}})
	e := executor.New(set, executor.Options{})
	defer e.Close(context.Background())
	for i := 1; i <= 2; i++ {
		notices := hooktest.Fire(t, e, toolCall("s", "")).Notices
		want := []protocol.HookText{{Hook: "a.sh", Source: protocol.User, Text: "tool-call-start"}, {Hook: "b.sh", Source: protocol.User, Text: "resident"}}
		if diff := cmp.Diff(want, notices); diff != "" {
			t.Error(diff)
		}
		if a, b := m.started("a.sh"), m.started("b.sh"); len(a) != i || len(b) != i {
			t.Errorf("started %v, %v", a, b)
		}
	}
	awaitFile(t, filepath.Join(m.dir, "end"))
}

// TestModesLargeEvents: no pipe fills up for good, whatever is read and written
// first.
func TestModesLargeEvents(t *testing.T) {
	for name, test := range map[string]struct {
		mode   schema.RunMode
		script string
	}{
		"standby reads":            {schema.Standby, `cat >/dev/null; exit 2`},
		"standby reads nothing":    {schema.Standby, `exec <&-; sleep 0.05; echo '{"action":"block"}'`},
		"standby writes first":     {schema.Standby, `head -c 1 >/dev/null; head -c 60000 /dev/zero | tr '\0' ' '; cat >/dev/null; exit 2`},
		"resident reads":           {schema.Resident, `while head -c 1 >/dev/null; do read -r line; ` + idOf + ` echo "{\"id\":\"$id\",\"action\":\"block\"}"; done`},
		"resident writes first":    {schema.Resident, `while head -c 1 >/dev/null; do head -c 60000 /dev/zero | tr '\0' ' '; echo; read -r line; ` + idOf + ` echo "{\"id\":\"$id\",\"action\":\"block\"}"; done`},
		"resident reads the begin": {schema.Resident, `line=$(head -c 200); ` + idOf + ` echo "{\"id\":\"$id\",\"action\":\"block\"}"; sleep 60`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModes(t)
			h := m.hook("guard.sh", test.mode, 10*time.Second, test.script)
			e := m.activate(h)
			if test.mode == schema.Standby {
				m.await(h, 1)
			}
			ev := toolCall("s", "")
			ev.Data = fmt.Appendf(nil, `{"toolCallId":"c","name":"bash","kind":"shell","args":{"a":"%s"}}`, strings.Repeat("x", 1<<20))
			if got := m.ask(e, ev); got.Action != protocol.Block {
				t.Errorf("%+v", got)
			}
		})
	}
}
