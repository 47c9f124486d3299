//go:build unix

package integration

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/test/prove"
)

// inMode is the hook as one that lives in a mode. It does its damage when it has
// read its event: in standby because a program that acts before is not fit for
// it, and in resident because it must know the event's id, which each of its
// answers repeats.
func (h hookFile) inMode(mode string) hookFile {
	if mode == "once" {
		return h
	}
	body := h.body
	const header = "HEADER\n"
	read := header + "IFS= read -r event\n"
	if mode == "resident" {
		read = header + "while IFS= read -r event; do\n" + `id=${event#*\"id\":\"}; id=${id%%\"*}` + "\n"
		body = strings.NewReplacer(
			`{"id":"01JANOTHER",`, `{"id":"01JANOTHER",`, `{"action"`, `{"id":"'"$id"'","action"`, `'{}'`, `'{"id":"'"$id"'"}'`,
		).Replace(body)
		if strings.Contains(body, "exec FAULTY ") {
			body = strings.TrimSuffix(strings.Replace(body, "exec ", "", 1), "\n") + ` "$id"` + "\n"
		}
		if slices.ContainsFunc(unended, func(part string) bool { return strings.Contains(body, part) }) {
			body += "echo\n"
		}
		body += "done\n"
	}
	h.body, h.run = strings.Replace(body, header, read, 1), mode
	return h
}

// unended are the answers without an end of line. A resident hook needs one, or its answer
// would count only when its time is over.
var unended = []string{"FAULTY deep", "FAULTY long-answer", `"args":{"command":"\377"}}}'`, `"reason":"a\\udc00b"}'`}

// inResident is what becomes of a fault in a resident hook where that is not
// what becomes of it in one that runs once: there the end of the process is no
// answer, nothing is one without the event's id in a line of its own, and the
// first that has it is.
var inResident = map[string]string{
	"says nothing to object, then sleeps": "observe",
	"two documents, neither says no":      "observe",
	"change, then no":                     "modify",
	"only text":                           "timeout",
	"a string":                            "timeout",
	"a number":                            "timeout",
	"half a document":                     "timeout",
	"answer for another event":            "timeout",
	"no for another event":                "timeout",
	"exits 0 and says nothing":            "lost",
	"exits 2 and says nothing":            "lost",
	"exits 2 with its reason on stderr":   "lost",
	"reads all":                           "timeout", // it waits for the end of its input
	"reads half":                          "timeout",
}

// wantIn is what the run of a fault comes to in a mode.
func wantIn(name, want, mode string) string {
	switch {
	case mode != "resident":
		return want
	case want == "exit" || want == "signal":
		return "lost"
	}
	return cmp.Or(inResident[name], want)
}

// meddles reports whether a fault is over after one event, because it has changed
// what the next would find.
func meddles(name string) bool {
	return name == "rewrites itself while it runs" || name == "deletes the project"
}

// sleepsOn reports whether a fault is an answer and a sleep after it: a resident
// hook is then deaf to what comes next.
func sleepsOn(name, mode string) bool {
	return mode == "resident" && (name == "says no, then sleeps" || name == "says nothing to object, then sleeps")
}

// TestFaultKitInModes runs the faults in a daemon, in every mode, at a gate and
// at a notice. Here it is a part of them; all of them, 25 times each, make the
// proof of G1.
func TestFaultKitInModes(t *testing.T) {
	var late lateness
	t.Cleanup(func() {
		prove.Figure(t, "G1", "%d events of %d faults at a gate in every mode, %d at a notice: at most %s late", late.events.Load(), len(faultKit), late.notices.Load(), late.most())
	})
	cell := 0
	for _, fault := range faultKit {
		for _, mode := range []string{"once", "standby", "resident"} {
			for _, rule := range []string{"continue", "block"} {
				if cell++; !prove.Full() && cell%8 != 0 {
					continue
				}
				t.Run(strings.ReplaceAll(fault.name, " ", "-")+"/"+mode+"/"+rule, func(t *testing.T) {
					t.Parallel()
					want := wantIn(fault.name, fault.want, mode)
					hook := fault.hook.inMode(mode)
					if want != "timeout" && !strings.Contains(fault.hook.body, "sleep") {
						hook = patient(hook)
					}
					events := prove.Size(2, 13) // two rules: 26 of each fault and mode
					once := meddles(fault.name) || sleepsOn(fault.name, mode)
					if once {
						events = 1
					}
					b := newBox(t)
					b.install(t, "fault.sh", hook, rule)
					k := serve(t, b)
					for n := range events {
						late.gate(t, k, hook, want, rule, n == 0)
					}
					if !once {
						late.notice(t, k)
					}
					k.in.Close()
					k.cmd.Wait()
					if left := aliveAfter(b.folder, 2*time.Second); len(left) > 0 {
						t.Errorf("still alive: %s", strings.Join(left, "; "))
					}
					if !once {
						checkNoticed(t, b, want)
					}
				})
			}
		}
	}
}

// gate fires a gate and checks what the hook's run came to, and when. After the
// first one hookd may wait for the end of the tree before, at the expense of the
// budget; then the hook's own time is what is measured.
func (l *lateness) gate(t *testing.T, k *talk, hook hookFile, want, rule string, first bool) {
	t.Helper()
	began := time.Now()
	params := fmt.Sprintf(`{"event":"tool-call-start","session":{"id":"s1","key":%q},"data":%s}`, k.key, call("bash", "shell", map[string]any{"command": "ls"}))
	o := k.outcome(k.call("event/fire", params))
	took := time.Since(began)
	exit := 0
	if o.Action == "block" {
		exit = 2 // as `hookd fire` would say
	}
	checkFault(t, o, exit, want, rule, "")
	if run := o.run("fault.sh"); run != nil && run.Detail == "" && run.Failure != nil {
		t.Error("a failure without words")
	}
	if run := o.run("fault.sh"); run != nil && !first {
		took = time.Duration(run.TookMs * float64(time.Millisecond))
	}
	if want != "timeout" && hook.limit > limit && took > hook.within()-time.Second {
		t.Errorf("an answer was not taken before the hook's time was over: %s", took)
	}
	l.events.Add(1)
	l.add(t, took-hook.within())
}

// notice fires a notice: nothing waits for the hook, whatever it does, and its
// answer decides nothing.
func (l *lateness) notice(t *testing.T, k *talk) {
	t.Helper()
	began := time.Now()
	o := k.outcome(k.call("event/fire", fmt.Sprintf(`{"event":"notification","session":{"id":"s1","key":%q},"data":{"kind":"info","text":"x"}}`, k.key)))
	if o.Action != "observe" {
		t.Errorf("a notice is decided: %s", o.Action)
	}
	l.notices.Add(1)
	l.add(t, time.Since(began))
}

// checkNoticed looks for the hook's run at the notice in the record.
func checkNoticed(t *testing.T, b *box, want string) {
	t.Helper()
	var seen []string
	for line, problem := range record.Read(filepath.Join(b.folder, "state", "hookd", "records"), "s1") {
		if problem != nil {
			t.Fatal(problem)
		}
		var late record.Late
		if line.Kind != record.KindLate || line.Decode(&late) != nil || late.Event != "notification" || late.Run.Hook != "fault.sh" {
			continue
		}
		// What a hook says at a notice refuses and changes nothing; where it could
		// not be asked, the failure is the same as at a gate.
		switch want {
		case "block", "observe", "modify", "reply":
		default:
			// Another line may say how the process ended that had been given up.
			if seen = append(seen, string(late.Run.Failure)); string(late.Run.Failure) != want {
				continue
			}
		}
		return
	}
	t.Errorf("at a notice the record has the failures %q, want %s", seen, want)
}
