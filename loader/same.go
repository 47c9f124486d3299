package loader

import (
	"reflect"
	"slices"
)

// same reports whether nobody could tell two snapshots apart, their generation
// left out: everything that is shown of them or rules an event is equal.
func (s *Snapshot) same(other *Snapshot) bool {
	return s.Set.ManagedHash == other.Set.ManagedHash &&
		reflect.DeepEqual(s.Set.Refuse, other.Set.Refuse) &&
		reflect.DeepEqual(s.Set.Settings, other.Set.Settings) &&
		slices.EqualFunc(s.Hooks, other.Hooks, sameHook) &&
		reflect.DeepEqual(s.Materials, other.Materials) &&
		slices.Equal(s.Settings, other.Settings) &&
		reflect.DeepEqual(s.Findings, other.Findings)
}

// sameHook compares what is known of two hooks. The way to ask one is left out:
// it is made anew with every load, from what is compared.
func sameHook(a, b Info) bool {
	return a.Hash == b.Hash && a.Status == b.Status && a.Why == b.Why && a.Runs == b.Runs &&
		a.InPlace == b.InPlace && a.DescribedBy == b.DescribedBy && a.SwitchedOff == b.SwitchedOff &&
		reflect.DeepEqual(a.Own, b.Own) &&
		reflect.DeepEqual(a.Fault, b.Fault) && reflect.DeepEqual(&a.Hook.Hook, &b.Hook.Hook)
}
