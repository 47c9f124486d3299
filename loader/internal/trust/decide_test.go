package trust

import (
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/records"
)

const (
	hashNow   = "sha256:now"
	hashOther = "sha256:other"
)

// every calls f with each combination of what can be found and recorded.
func every(f func(Found, Recorded)) {
	recordsOf := func(decisions ...records.Decision) []*records.Record {
		list := []*records.Record{nil}
		for _, decision := range decisions {
			list = append(list, &records.Record{Decision: decision, Hash: hashNow}, &records.Record{Decision: decision, Hash: hashOther})
		}
		return list
	}
	for _, hash := range []string{"", hashNow} {
		for bits := range 1 << 6 {
			is := func(bit int) bool { return bits&(1<<bit) != 0 }
			found := Found{Hash: hash, There: is(0) || hash != "", Faulty: is(1), Unwatched: is(2)}
			if is(3) {
				found.Elsewhere = "/worktree"
			}
			for _, here := range recordsOf(records.Allowed, records.Denied) {
				for _, main := range recordsOf(records.Allowed) {
					f(found, Recorded{Here: here, Main: main, Checkout: "/main", MainRules: is(4), Listed: is(5)})
				}
			}
		}
	}
}

// No decision lets run what nobody allowed.
func TestDecideAllowsNothingElse(t *testing.T) {
	n := 0
	every(func(found Found, recorded Recorded) {
		n++
		d := Decide(found, recorded)
		asRecorded := found.Hash == hashNow && recorded.Here != nil && recorded.Here.Hash == hashNow
		asInMain := found.Hash == hashNow && recorded.Here == nil && recorded.Main != nil && recorded.Main.Hash == hashNow
		if d != Decide(found, recorded) {
			t.Errorf("%+v %+v: two decisions", found, recorded)
		}
		switch {
		case !d.MayRun():
			if d.Why == "" {
				t.Errorf("%+v %+v: it does not run, and nothing says why", found, recorded)
			}
			return
		case d.State != StateTrusted || d.Why != "":
			t.Errorf("%+v %+v: it runs as %+v", found, recorded, d)
		case found.Hash == "":
			t.Errorf("%+v %+v: it runs without a hash", found, recorded)
		case recorded.Here != nil && recorded.Here.Decision == records.Denied:
			t.Errorf("%+v %+v: it was denied and runs", found, recorded)
		}
		switch d.Source {
		case FromRecord:
			if !asRecorded || found.Unwatched && found.Elsewhere != "" {
				t.Errorf("%+v %+v: the record lets it run", found, recorded)
			}
		case FromMain:
			if !asInMain || found.Faulty || found.Unwatched {
				t.Errorf("%+v %+v: the main checkout lets it run", found, recorded)
			}
		case FromList:
			if !recorded.Listed || found.Faulty || asRecorded {
				t.Errorf("%+v %+v: the list lets it run", found, recorded)
			}
		default:
			t.Errorf("%+v %+v: %q lets it run", found, recorded, d.Source)
		}
	})
	if n != 2*64*5*3 {
		t.Errorf("%d combinations", n)
	}
}

// What was allowed once is never taken for something that nobody decided about.
func TestDecideMissesWhatWasAllowed(t *testing.T) {
	every(func(found Found, recorded Recorded) {
		d := Decide(found, recorded)
		if recorded.Here != nil && d.State == StateNew {
			t.Errorf("%+v %+v: %+v", found, recorded, d)
		}
		gone := recorded.Here != nil && recorded.Here.Decision == records.Allowed && !found.There
		if gone && d.State != StateGone {
			t.Errorf("%+v %+v: %+v, and it is gone", found, recorded, d)
		}
		if d.State == StateChanged && d.Record == nil {
			t.Errorf("%+v %+v: it changed since nobody knows what", found, recorded)
		}
		inMain := recorded.Here == nil && recorded.Main != nil && !recorded.MainRules && found.Hash != recorded.Main.Hash
		if inMain && !d.MayRun() && (d.State != StateChanged || d.Why != "it is not what was allowed in /main") {
			t.Errorf("%+v %+v: %+v, and the main checkout has another one", found, recorded, d)
		}
	})
}

func TestDecide(t *testing.T) {
	allowed := &records.Record{Decision: records.Allowed, Hash: hashNow}
	other := &records.Record{Decision: records.Allowed, Hash: hashOther}
	denied := &records.Record{Decision: records.Denied, Hash: hashNow}
	there := Found{Hash: hashNow, There: true}
	for name, test := range map[string]struct {
		found    Found
		recorded Recorded
		state    State
		source   Source
	}{
		"nobody decided":                   {there, Recorded{}, StateNew, ""},
		"as allowed":                       {there, Recorded{Here: allowed}, StateTrusted, FromRecord},
		"changed":                          {there, Recorded{Here: other}, StateChanged, ""},
		"changed, and listed":              {there, Recorded{Here: other, Listed: true}, StateTrusted, FromList},
		"denied, and listed":               {there, Recorded{Here: denied, Main: allowed, Listed: true}, StateDenied, ""},
		"gone":                             {Found{}, Recorded{Here: allowed}, StateGone, ""},
		"unreadable":                       {Found{There: true}, Recorded{Here: allowed}, StateChanged, ""},
		"allowed in the main checkout":     {there, Recorded{Main: allowed}, StateTrusted, FromMain},
		"another one in the main checkout": {there, Recorded{Main: other}, StateChanged, ""},
		"the main checkout counts itself":  {there, Recorded{Main: other, MainRules: true}, StateNew, ""},
		"unwatched in another checkout":    {Found{Hash: hashNow, There: true, Unwatched: true, Elsewhere: "/w"}, Recorded{Here: allowed}, StateTrusted, ""},
		"unwatched, allowed in main":       {Found{Hash: hashNow, There: true, Unwatched: true}, Recorded{Main: allowed}, StateNew, ""},
	} {
		if d := Decide(test.found, test.recorded); d.State != test.state || d.Source != test.source {
			t.Errorf("%s: %+v, want %s from %q", name, d, test.state, test.source)
		}
	}
}
