package protocol

import "slices"

// Asker is a hook that wants a person to decide about a call.
type Asker struct {
	Name, Reason string
	Layer        Layer
}

// Askers returns the hooks that ask at a decided tool-call-start: the one that decided, then
// the others as they ran. Hooks of one name in different layers are different hooks.
func (o *Outcome) Askers() []Asker {
	first := Asker{Reason: o.Reason, Layer: o.DecidedLayer()}
	if o.By != nil {
		first.Name = *o.By
	}
	var list []Asker
	for _, run := range o.Runs {
		if run.Action != Ask {
			continue
		}
		next := Asker{Name: run.Hook, Reason: run.Reason, Layer: run.Source}
		if next.Name == first.Name && next.Reason == first.Reason {
			first.Layer = next.Layer
		}
		if !slices.ContainsFunc(list, next.same) {
			list = append(list, next)
		}
	}
	return append([]Asker{first}, slices.DeleteFunc(list, first.same)...)
}

func (a Asker) same(b Asker) bool { return a.Name == b.Name && a.Layer == b.Layer }

// LeavesOpen reports whether a decided permission-request leaves the asker's question to the
// person. Only a grant answers it: hooks that only watched leave it open, and so does a grant
// by a lower layer than the one that asked. A project must not grant what a built-in asks.
func (a Asker) LeavesOpen(o *Outcome) bool {
	origin := OriginOf(a.Layer, a.Name)
	if a.Layer == Builtin || a.Layer == "" {
		origin = Origin{Layer: User}
	}
	granted := o.Action == Allow && o.DecidedBy().Compare(origin) >= 0
	return o.Action != Block && o.Action != Stop && !granted
}
