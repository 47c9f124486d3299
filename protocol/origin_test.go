package protocol

import (
	"strings"
	"testing"
)

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
