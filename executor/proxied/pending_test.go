package proxied

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Requests without an answer are bounded by their number and by their bytes. One that has
// ended, in whatever way, leaves its place to another.
func TestRequestsWithoutAnAnswerAreBounded(t *testing.T) {
	p := NewPending[int]()
	request := func(id, size int) *Request[int] {
		return &Request[int]{ID: json.RawMessage(fmt.Sprint(id)), Size: size}
	}
	first, second, third := request(1, mostPendingBytes+1), request(2, 0), request(3, 1)
	if problem := p.Add(first); problem != "" {
		t.Fatal(problem)
	}
	if p.Add(second) == "" || p.Add(third) == "" {
		t.Error("more is taken than may be kept")
	}
	p.Cancel(first)
	if problem := p.Add(third); problem != "" {
		t.Error(problem)
	}
	if !p.Remove(third) || p.Remove(third) || p.bytes != 0 {
		t.Errorf("%d bytes are left", p.bytes)
	}
	for i := range mostPending {
		if problem := p.Add(request(10+i, 0)); problem != "" {
			t.Fatal(i, problem)
		}
	}
	if p.Add(second) == "" {
		t.Error("too many are taken")
	}
	if p.TakeAll(); p.Add(second) != "" || p.bytes != 0 {
		t.Errorf("%d are left, of %d bytes", p.Count(), p.bytes)
	}
}

// Requests that were given up are answered where an answer comes. Nobody waits for them, and however
// many have none, others are taken.
func TestRequestsThatAreGivenUp(t *testing.T) {
	p := NewPending[int]()
	var all []*Request[int]
	for i := range mostPending + 10 {
		r := &Request[int]{ID: json.RawMessage(fmt.Sprint(i))}
		if problem := p.Add(r); problem != "" {
			t.Fatal(i, problem)
		}
		p.GiveUp(r)
		p.GiveUp(r)
		all = append(all, r)
	}
	last, first := all[len(all)-1], all[0]
	if p.Count() != 0 || len(p.open) != mostCancelled || len(p.givenUp) != mostCancelled {
		t.Errorf("%d wait, %d are open", p.Count(), len(p.open))
	}
	if p.Get(last.ID) != last || !p.Remove(last) || p.Count() != 0 {
		t.Error("the last one cannot be answered")
	}
	if p.Get(first.ID) != nil || !p.WasCancelled(all[len(all)-mostCancelled-1].ID) {
		t.Error("the first ones are open")
	}
	if problem := p.Add(first); problem != "" || p.Count() != 1 {
		t.Error(problem, p.Count())
	}
	if !p.Remove(first) || p.Count() != 0 {
		t.Error(p.Count())
	}
}
