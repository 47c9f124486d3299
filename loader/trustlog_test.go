//go:build unix

package loader

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/record"
)

// Every decision of a person about what may run is in the record, and nothing
// else is: a decision that changes nothing leaves no line.
func TestDecisionsAreRecorded(t *testing.T) {
	w := newWorld(t)
	w.hook("a.sh", blocks)
	w.hook("b.sh", guardHeader)
	trust, ctx := w.trust(), context.Background()
	trust.How = "terminal"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	hash := map[string]string{}
	allow := func(names ...string) {
		t.Helper()
		plan := w.plan()
		for _, item := range plan.Items {
			hash[item.Hook] = item.Now.Hash
		}
		must(trust.Allow(plan, names...))
	}
	allow("a.sh", "b.sh")
	allow() // all of it is allowed already
	first := hash["a.sh"]
	w.hook("a.sh", blocks+"# changed\n")
	allow("a.sh")
	must(trust.Disable(ctx, "b.sh", nil))
	must(trust.Enable(ctx, "b.sh"))
	must(trust.Deny(ctx, "b.sh"))
	must(trust.Expect(ctx, w.plan().Hash)) // denied ones are allowed again

	var got []record.Trust
	for line, problem := range record.Read(filepath.Join(w.state, "records"), time.Now().UTC().Format(time.DateOnly)) {
		if problem != nil {
			t.Fatal(problem)
		}
		var d record.Trust
		must(line.Decode(&d))
		got = append(got, d)
	}
	one := func(hook, hash, state, how string) record.Trust {
		return record.Trust{Project: w.project, Hook: hook, Hash: hash, State: state, How: how}
	}
	want := []record.Trust{
		one("a.sh", first, "allowed", "terminal"),
		one("b.sh", hash["b.sh"], "allowed", "terminal"),
		one("a.sh", hash["a.sh"], "allowed", "terminal"),
		one("project/b.sh", "", "disabled", "terminal"),
		one("project/b.sh", "", "enabled", "terminal"),
		one("b.sh", hash["b.sh"], "denied", "terminal"),
		one("b.sh", hash["b.sh"], "allowed", "--expect"),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
