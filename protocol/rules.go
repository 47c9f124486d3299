package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
)

// CheckReply checks whether this hook may give a reply at an event: the event's row in
// [Table] and the hook's class decide. It returns the reply with its action filled in,
// warnings about members that have no effect, and an error that says what would be
// right. [Apply] checks what a change may touch.
func CheckReply(spec *Spec, v HookInfo, r Reply) (Reply, []string, error) {
	r = settle(spec, r)
	if !slices.Contains(Actions, r.Action) {
		return Reply{}, nil, fmt.Errorf("unknown action %q", text.Shorten(string(r.Action), 60))
	}
	var warnings []string
	if r.Action == Block || r.Action == Stop {
		if err := MayRefuse(spec, v, r.Action); err != nil {
			return Reply{}, nil, err
		}
		if ignored := withoutEffect(&r); len(ignored) > 0 {
			warnings = append(warnings, fmt.Sprintf("%s beside %s is ignored", strings.Join(ignored, ", "), r.Action))
		}
		return r, warnings, nil
	}
	if err := classAllows(v, &r); err != nil {
		return Reply{}, nil, err
	}
	if err := eventAllows(spec, v, &r); err != nil {
		return Reply{}, nil, err
	}
	if err := membersAgree(&r); err != nil {
		return Reply{}, nil, err
	}
	if r.Action == Allow && spec.Name != PermissionRequest {
		r.Action = Observe
		warnings = append(warnings, "allow grants at permission-request only, here it is observe")
	}
	if r.Context != "" && spec.Context == "" {
		warnings = append(warnings, "context has no place at "+string(spec.Name)+" and is dropped")
	}
	return r, warnings, nil
}

// settle fills in the action that a reply without one means, and makes continue
// without effect the observe it is: with changes it is a modify, bare or at an
// event that nothing can be forced on it is observe.
func settle(spec *Spec, r Reply) Reply {
	changes := r.Changes != nil || r.Patch != nil || r.Result != nil || r.Response != nil
	switch {
	case r.Action == Deny:
		r.Action = Block
	case r.Action == "" && changes:
		r.Action = Modify
	case r.Action == "" && r.Callback != nil:
		r.Action = Callback
	case r.Action == "" && r.Messages != nil:
		r.Action = Continue
	case r.Action == "":
		r.Action = Observe
	}
	if r.Action == Continue && r.Messages == nil && (r.Reason == "" || spec.Continue == ContinueFails) {
		r.Action = Observe
		if changes {
			r.Action = Modify
		}
	}
	return r
}

// MayBlock reports whether a hook's block counts at an event.
func MayBlock(spec *Spec, v HookInfo) bool { return MayRefuse(spec, v, Block) == nil }

// MayRefuse says why a hook's block or stop does not count at an event, nil if it does.
func MayRefuse(spec *Spec, v HookInfo, a Action) error {
	if v.Class == CanObserve {
		return fmt.Errorf("an observer (can: observe) may not answer %s; a hook that refuses needs can: block", a)
	}
	if a == Block && spec.Block == BlockFails || a == Stop && !spec.CanStop() {
		return notHere(spec, v, string(a))
	}
	return nil
}

// withoutEffect clears the members that have no meaning together with block and stop,
// and names them.
func withoutEffect(r *Reply) []string {
	var names []string
	for _, name := range r.effects() {
		if name != "context" {
			names = append(names, name)
		}
	}
	r.Changes, r.Patch, r.Result, r.Response, r.Messages, r.Callback = nil, nil, nil, nil, nil, nil
	return names
}

// effects names the members of a reply that have an effect beyond notice, state
// and metadata.
func (r *Reply) effects() []string {
	var names []string
	for _, m := range []struct {
		name string
		set  bool
	}{
		{"changes", r.Changes != nil}, {"patch", r.Patch != nil}, {"result", r.Result != nil},
		{"response", r.Response != nil}, {"messages", r.Messages != nil},
		{"callback", r.Callback != nil}, {"context", r.Context != ""},
	} {
		if m.set {
			names = append(names, m.name)
		}
	}
	return names
}

// classAllows returns an error if a hook of this class may not give the reply. Block and
// stop are checked by MayRefuse.
func classAllows(v HookInfo, r *Reply) error {
	switch v.Class {
	case CanObserve:
		// A continue with no more than a reason has no effect when an observer says it.
		if r.Action == Continue && r.Messages == nil {
			r.Action = Observe
		}
		if r.Action != Observe {
			return fmt.Errorf("an observer (can: observe) may not answer %s; it needs can: block or can: modify", r.Action)
		}
		if effects := r.effects(); len(effects) > 0 {
			return fmt.Errorf("an observer (can: observe) may not answer %s; it may answer notice, state and metadata", strings.Join(effects, ", "))
		}
	case CanBlock:
		if r.Action == Modify || r.Action == Callback {
			return fmt.Errorf("a blocker (can: block) may not answer %s; it needs can: modify", r.Action)
		}
		for _, name := range r.effects() {
			if name != "context" && name != "messages" {
				return fmt.Errorf("a blocker (can: block) may not answer %s; it needs can: modify", name)
			}
		}
	}
	return nil
}

// eventAllows returns an error if the event's row does not allow the reply. Block and
// stop are checked by MayRefuse.
func eventAllows(spec *Spec, v HookInfo, r *Reply) error {
	switch {
	case r.Action == Ask && spec.Ask == AskFails,
		r.Action == Continue && spec.Continue == ContinueFails,
		r.Action == Callback && spec.Callback == CallbackFails:
		return notHere(spec, v, string(r.Action))
	case (r.Changes != nil || r.Patch != nil) && len(spec.Fields) == 0:
		return notHere(spec, v, "changes")
	case r.Result != nil && spec.Replace != TypeResult:
		return notHere(spec, v, "result")
	case r.Response != nil && spec.Replace != TypeResponse:
		return notHere(spec, v, "response")
	}
	return nil
}

// membersAgree checks that each member has an action it may go with.
func membersAgree(r *Reply) error {
	changes := r.Changes != nil || r.Patch != nil
	replaces := r.Result != nil || r.Response != nil
	switch {
	case r.Changes != nil && r.Patch != nil:
		return errors.New("changes and patch together; give one of them")
	case r.Action == Modify && !changes && !replaces:
		return errors.New("modify without changes, patch, result or response")
	case changes && r.Action != Modify && r.Action != Ask && r.Action != Continue:
		return fmt.Errorf("changes beside %s; they go with modify, ask or continue", r.Action)
	case replaces && r.Action != Modify:
		return fmt.Errorf("result or response beside %s; they go with modify", r.Action)
	case r.Messages != nil && r.Action != Continue:
		return fmt.Errorf("messages beside %s; they go with continue", r.Action)
	case r.Callback != nil && r.Action != Callback:
		return fmt.Errorf("callback beside %s; it goes with the action callback", r.Action)
	case r.Action == Callback && r.Callback == nil:
		return errors.New("the action callback needs a member callback with the recipe's name")
	}
	return nil
}

// notHere is the error of an answer that the event's row does not have.
func notHere(spec *Spec, v HookInfo, what string) error {
	return fmt.Errorf("%s is not possible at %s (a %s); possible here: %s", what, spec.Name, spec.Kind, strings.Join(possible(spec, v), ", "))
}

// possible lists what a hook of this class may answer at an event.
func possible(spec *Spec, v HookInfo) []string {
	list := []string{"observe"}
	if v.Class == CanObserve {
		return list
	}
	add := func(ok bool, text string) {
		if ok {
			list = append(list, text)
		}
	}
	add(spec.Block != BlockFails, "block")
	add(spec.CanStop(), "stop")
	add(spec.Ask != AskFails, "ask")
	add(spec.Name == PermissionRequest, "allow")
	add(spec.Continue != ContinueFails, "continue")
	if v.Class == CanBlock {
		return list
	}
	add(len(spec.Fields) > 0, "changes to "+fieldList(spec))
	add(spec.Replace != "", string(spec.Replace))
	add(spec.Callback != CallbackFails, "callback")
	return list
}

func fieldList(spec *Spec) string {
	var names []string
	for _, f := range spec.Fields {
		names = append(names, f.Path)
	}
	return strings.Join(names, " ")
}
