package protocol

import (
	"strings"
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

// Hooks of an inner project are to those of an outer one what a lower layer is to
// a higher: they do not grant what it asked, do not take the place of its
// question, use up none of its context, and keep what it told the model.
func TestOuterProjectsStandAboveInnerOnes(t *testing.T) {
	inner, outer := hook("guard", CanBlock), hook("../../guard", CanBlock)
	allow, ask := Reply{Action: Allow}, Reply{Action: Ask, Reason: "really?"}
	request := blankEvent(PermissionRequest)
	for name, test := range map[string]struct {
		asked Origin
		by    HookInfo
		want  Action
	}{
		"the outer one asked, the inner one allows":  {outer.Origin(), inner, Observe},
		"the outer one asked and allows":             {outer.Origin(), outer, Allow},
		"the inner one asked, the outer one allows":  {inner.Origin(), outer, Allow},
		"the outer one asked, the user's one allows": {outer.Origin(), hook("u", CanBlock, layer(User)), Allow},
		"the user asked, the outer one allows":       {Origin{Layer: User}, outer, Observe},
	} {
		f, _ := Begin(request, FoldOptions{AskedBy: test.asked}).Add(says(test.by, allow))
		if got := f.Outcome().Action; got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}

	o, _ := fold(mustDecode(t, toolCall(`{}`)), says(inner, ask), says(outer, ask))
	if *o.By != outer.Name || o.DecidedBy() != outer.Origin() {
		t.Errorf("the question named is that of %s, %v", *o.By, o.DecidedBy())
	}

	f := Begin(mustDecode(t, toolCall(`{}`)), FoldOptions{ContextLimit: 100})
	for range 9 {
		f, _ = f.Add(says(inner, Reply{Context: strings.Repeat("x", 90)}))
	}
	f, _ = f.Add(says(outer, Reply{Context: strings.Repeat("p", 100)}))
	if got := f.Outcome().Context; got[9].Text != strings.Repeat("p", 100) {
		t.Errorf("the outer hook's context was cut: %q", got[9].Text)
	}

	before := []RawMessage{RawMessage(`{"role":"user","content":[{"type":"text","text":"policy","hook":"../../guard","layer":"project"}]}`)}
	if err := checkProtected(before, nil, inner); err == nil {
		t.Error("an inner hook took away what an outer one told the model")
	}
	if err := checkProtected(before, nil, outer); err != nil {
		t.Error(err)
	}
}

func TestOriginOf(t *testing.T) {
	for _, test := range []struct {
		layer Layer
		name  string
		want  int
	}{
		{Project, "guard.sh", 0}, {Project, "../guard.sh", 1}, {Project, "../../..guard", 2}, {Project, "..guard", 0}, {User, "../guard.sh", 0},
	} {
		if got := OriginOf(test.layer, test.name); got.Above != test.want || got.Layer != test.layer {
			t.Errorf("%s %s: %+v", test.layer, test.name, got)
		}
	}
}
