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
