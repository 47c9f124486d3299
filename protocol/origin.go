package protocol

import (
	"cmp"
	"strings"
)

// Origin is where a hook comes from: its layer and, of projects that lie in one
// another, which. A hook of a project above the one that is worked in has the way
// to it before its name (../../guard.sh), and is to the inner project's hooks what
// a hook of a higher layer is: they neither undo what it said nor use up what it
// needs. The zero value is the origin of no hook.
type Origin struct {
	Layer Layer
	Above int // folders between the project that is worked in and the hook's own
}

// OriginOf is the origin of a hook that is known by its layer and name.
func OriginOf(layer Layer, name string) Origin {
	o := Origin{Layer: layer}
	for layer == Project && strings.HasPrefix(name, "../") {
		o.Above, name = o.Above+1, name[len("../"):]
	}
	return o
}

// Origin is where the hook comes from.
func (v HookInfo) Origin() Origin { return OriginOf(v.Layer, v.Name) }

// Origin is where the hook comes from.
func (r Run) Origin() Origin { return OriginOf(r.Source, r.Hook) }

// Origin is where the hook comes from.
func (r HookRef) Origin() Origin { return OriginOf(r.Layer, r.Name) }

// Compare orders origins: below 0 if o stands below other.
func (o Origin) Compare(other Origin) int {
	return cmp.Or(cmp.Compare(o.Layer.Rank(), other.Layer.Rank()), cmp.Compare(o.Above, other.Above))
}

// String names the origin in messages.
func (o Origin) String() string {
	if o.Above == 0 {
		return string(o.Layer)
	}
	return string(o.Layer) + " " + strings.TrimSuffix(strings.Repeat("../", o.Above), "/")
}
