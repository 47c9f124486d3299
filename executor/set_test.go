package executor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
)

// H40: names in natural order, whatever order the file system gives.
func TestNaturalOrder(t *testing.T) {
	want := []string{
		"", "1", "01-b", "1-a", "9-c", "10-a", "20-b", "100-d", "123456789012345678901234567890",
		"A", "B10", "B9x", "a", "a-1", "a-2", "a-10", "a-10-2", "a-10-10", "a1", "b", "é",
	}
	want = slices.Clone(want)
	slices.SortFunc(want, compareNatural)
	for range 50 {
		got := slices.Clone(want)
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, compareNatural)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	for _, pair := range [][2]string{
		{"9-", "10-"}, {"10-a", "20-b"}, {"01", "1"}, {"01-b", "1-a"}, {"a2", "a10"}, {"A", "a"},
		{"a", "a1"}, {"1a", "a1"}, {"007", "8"}, {"99999999999999999999", "100000000000000000000"},
	} {
		if compareNatural(pair[0], pair[1]) >= 0 || compareNatural(pair[1], pair[0]) <= 0 {
			t.Errorf("%q is not before %q", pair[0], pair[1])
		}
	}
}

func FuzzNaturalOrder(f *testing.F) {
	f.Add("01-b", "1-a", "1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if compareNatural(a, b) != -compareNatural(b, a) || (compareNatural(a, b) == 0) != (a == b) {
			t.Errorf("%q and %q have no order", a, b)
		}
		if compareNatural(a, b) < 0 && compareNatural(b, c) < 0 && compareNatural(a, c) >= 0 {
			t.Errorf("%q < %q < %q, but not the first before the last", a, b, c)
		}
	})
}

func TestRunningOrder(t *testing.T) {
	hook := func(name string, can protocol.Class, layer protocol.Layer, priority int, mode protocol.Mode) *Hook {
		h := testHook(name)
		h.Can, h.Layer, h.Priority, h.Mode = can, layer, priority, mode
		return h
	}
	const enforce, audit = protocol.Enforce, protocol.Audit
	ordered := []*Hook{
		hook("limit", protocol.CanModify, protocol.Builtin, 0, enforce),
		hook("10", protocol.CanModify, protocol.Project, 5, enforce),
		hook("9", protocol.CanModify, protocol.Project, 0, enforce),
		hook("10", protocol.CanModify, protocol.Project, 0, enforce),
		hook("1", protocol.CanModify, protocol.Project, -1, enforce),
		hook("1", protocol.CanModify, protocol.User, 1000, enforce),
		hook("1", protocol.CanModify, protocol.Managed, 0, enforce),
		hook("1", protocol.CanBlock, protocol.Project, 0, enforce),
		hook("1", protocol.CanBlock, protocol.Managed, 0, enforce),
		hook("1", protocol.CanModify, protocol.User, 0, audit),
		hook("1", protocol.CanBlock, protocol.Project, 0, audit),
		hook("1", protocol.CanObserve, protocol.Project, 0, enforce),
	}
	label := func(hooks []*Hook) (out []string) {
		for _, h := range hooks {
			out = append(out, string(h.Layer)+"/"+h.Name+" "+string(h.Can)+" "+string(h.Mode))
		}
		return out
	}
	for range 100 {
		shuffled := slices.Clone(ordered)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		set, errs := NewSet(Set{Hooks: shuffled})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if diff := cmp.Diff(label(ordered), label(set.Hooks)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(label(ordered), label(set.For(protocol.ToolCallStart))); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestNewSetRejectsBadMatcher(t *testing.T) {
	guard, watcher, good := testHook("guard"), testHook("watcher"), testHook("good")
	watcher.Can, watcher.OnFailure = protocol.CanObserve, protocol.RuleContinue
	guard.Match.Tool, watcher.Match.Tool = []string{"("}, []string{"("}
	set, errs := NewSet(Set{Hooks: []*Hook{watcher, good, guard}})
	if len(errs) != 2 || errs[0].Hook.Name != "guard" || errs[0].Key != "tool" {
		t.Fatalf("errors: %v", errs)
	}
	for _, h := range set.Hooks {
		wantFault := h.Name == "guard"
		if (h.Fault != nil) != wantFault {
			t.Errorf("%s: fault %v", h.Name, h.Fault)
		}
		if h.Name != "good" && h.Status != Rejected {
			t.Errorf("%s: status %s", h.Name, h.Status)
		}
	}
	if guard.Status != Ready || guard.Fault != nil {
		t.Error("NewSet changed the hook it was given")
	}
}
