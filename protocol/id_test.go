package protocol

import (
	"testing"
	"time"
)

func TestIDIsAULID(t *testing.T) {
	var s idSequence
	s.last = id{high: 1469918176385<<16 - 1} // before it
	at := time.UnixMilli(1469918176385)
	if got := s.next(at).String(); len(got) != 26 || got[:10] != "01ARYZ6S41" {
		t.Errorf("the ULID of the specification's time is %s", got)
	}
	for _, c := range []struct {
		id   id
		want string
	}{
		{id{}, "00000000000000000000000000"},
		{id{^uint64(0), ^uint64(0)}, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"},
		{id{0x0123456789ABCDEF, 0xFEDCBA9876543210}, "014D2PF2DBSQQZXQ5TK1V58CGG"},
	} {
		if got := c.id.String(); got != c.want {
			t.Errorf("%x: %s, want %s", c.id, got, c.want)
		}
	}
}

func TestIDsRise(t *testing.T) {
	var s idSequence
	at := time.Now()
	last := s.next(at).String()
	for i, step := range []time.Duration{0, 0, -time.Hour, time.Millisecond, 0} {
		now := s.next(at.Add(step)).String()
		if now <= last {
			t.Errorf("step %d (%v): %s after %s", i, step, now, last)
		}
		last = now
	}
	s.last.low = ^uint64(0)
	before := s.last
	if after := s.next(at); after.high != before.high+1 || after.low != 0 {
		t.Errorf("%x after %x", after, before)
	}
}

func TestIDsOfManyAtOnceDiffer(t *testing.T) {
	const each = 1000
	made := make(chan []string)
	for range 4 {
		go func() {
			var list []string
			for range each {
				list = append(list, NewID())
			}
			made <- list
		}()
	}
	seen := map[string]bool{}
	for range 4 {
		for _, one := range <-made {
			seen[one] = true
		}
	}
	if len(seen) != 4*each {
		t.Errorf("%d different ones of %d", len(seen), 4*each)
	}
}
