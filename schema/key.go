package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-playground/validator/v10"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/units"
)

// Key is one row of the table of settings: everything that reading, merging and
// documenting a setting needs to know.
type Key struct {
	Name    string // where it stands in a settings file: hooks.timeout
	Type    Type
	Default any // bool, int64 (also sizes), time.Duration, float64, string or []string
	// Min and Max bound a value, ends included; zero values of the row's type in
	// both mean no bounds. They have the type of Default.
	Min, Max any
	Words    []string // the only values of a word, or of the items of a list
	Form     string   // a check of each text or item, one of the forms in check.go
	Layers   Layers   // which layers may set it
	Tighter  Tighter
	For      For      // whom a value binds
	Order    []string // of words, from loose to tight, where Tighter is ByOrder
	// ZeroIsOff says that 0 means no limit, and so is looser than any other.
	ZeroIsOff bool
	// FixedByManaged says that a value of the managed layer stands as it is,
	// even against a tighter one.
	FixedByManaged bool
	// ProjectTightens says that the project may only tighten, even the default.
	ProjectTightens bool
	// Unread is what stands in the place of a value that a layer wrote and nobody can read,
	// so that nothing becomes looser than what was written: a value that no other one is
	// tighter than, items that are added to those of a list that can be read, or Refuses.
	// nil, the default, is for keys that neither limit nor refuse anything.
	Unread  any
	Meaning string
}

// Refuses is the [Key].Unread of a key for which no value is certain to be tight enough, and with
// whose tightest one nothing works: what the key binds does not go on until its value can
// be read. A run does not start, hooks that are bound do not run and guards among them
// fail, and where guards may be missing every gate refuses.
const Refuses = refusal("refuses")

type refusal string

// Unread is a value that was written, cannot be read, and has no tight value that could
// stand in its place.
type Unread struct {
	Key string
	Pos Pos
}

// String says which value cannot be read, and where it is.
func (u Unread) String() string {
	return fmt.Sprintf("%s cannot be read (%s:%d)", u.Key, u.Pos.File, u.Pos.Line)
}

// Type is what kind of value a setting takes.
type Type string

const (
	TypeBool     Type = "bool"
	TypeInt      Type = "int"
	TypeDuration Type = "duration"
	TypeSize     Type = "size"
	TypeShare    Type = "number"
	TypeMoney    Type = "USD"
	TypeText     Type = "string"
	TypeWord     Type = "word"
	TypeList     Type = "list"
	TypeEntries  Type = "list of entries"
	TypePrices   Type = "list of prices"
	TypeFolders  Type = "list of folders"
	TypeServers  Type = "map of servers"
)

// Layers is a set of settings layers.
type Layers string

const (
	PUM Layers = "P U M"
	PU  Layers = "P U"
	UM  Layers = "U M"
	U   Layers = "U"
	M   Layers = "M"
)

// Has reports whether a layer is in the set.
func (l Layers) Has(layer protocol.Layer) bool {
	letter := map[protocol.Layer]string{protocol.Project: "P", protocol.User: "U", protocol.Managed: "M"}[layer]
	return letter != "" && strings.Contains(string(l), letter)
}

// Tighter is the only direction in which a lower layer may move a value that a
// higher one set. The layers rise from project over user to managed.
type Tighter string

const (
	// Free: the project's value counts before the user's. What the managed layer
	// set no lower layer can move: there is no tighter direction.
	Free Tighter = "–"
	// OwnLayer: each layer's value is for its own hooks.
	OwnLayer Tighter = "own layer"
	// Lower: a lower layer may only make the value smaller.
	Lower Tighter = "lower"
	// ByOrder: a lower layer may only go on in Order.
	ByOrder Tighter = "order"
	// Union: the lists of all layers are united.
	Union Tighter = "union"
	// Fewer: what the managed layer lists may be narrowed, not extended.
	Fewer Tighter = "fewer"
)

// For says whom a value binds, and so for whom it is tighter or looser. No value ever
// changes what a hook of a layer above its own is asked, may answer, keeps, or may take.
type For string

const (
	// ForOwnHooks: the hooks of the layer that sets it.
	ForOwnHooks For = "own hooks"
	// ForOwnHooksAtLeast: as ForOwnHooks, and the managed layer's value is the
	// least for the hooks of every other layer.
	ForOwnHooksAtLeast For = "own hooks; M: at least, for all"
	// ForHooksBelow: the hooks of the layer that sets it and of the layers below.
	ForHooksBelow For = "own hooks and those below"
	// ForShared: as ForHooksBelow, of something that all hooks share. Slots are
	// reserved for the hooks of the higher layers.
	ForShared For = "own hooks and those below; slots are reserved for those above"
	// ForEveryone: the whole event, or all records.
	ForEveryone For = "everyone"
	// ForProjects: what projects may do without the person being asked.
	ForProjects For = "projects"
	// ForRun: the agent's run, its model and its tools.
	ForRun For = "the run"
)

// Fors are all values of [Key].For.
var Fors = []For{ForOwnHooks, ForOwnHooksAtLeast, ForHooksBelow, ForShared, ForEveryone, ForProjects, ForRun}

// Plain reports whether the setting is one value or a list of texts, and no object
// with a shape of its own.
func (k *Key) Plain() bool {
	switch k.Type {
	case TypeEntries, TypePrices, TypeFolders, TypeServers:
		return false
	}
	return true
}

// BoundByManaged reports whether a value of the managed layer stands as it is for
// every layer below.
func (k *Key) BoundByManaged() bool { return k.Tighter == Free || k.FixedByManaged }

// Unset is what holds where a layer says nothing of its own hooks.
func (k *Key) Unset() any {
	if k.Default == nil {
		return ""
	}
	return k.Default
}

// Looser reports whether a value of a lower layer is looser than one of a
// higher layer, and so must not replace it.
func (k *Key) Looser(lower, higher any) bool {
	switch k.Tighter {
	case Lower:
		low, high := number(lower), number(higher)
		if k.ZeroIsOff {
			return high != 0 && (low == 0 || low > high)
		}
		return low > high
	case ByOrder:
		return slices.Index(k.Order, lower.(string)) < slices.Index(k.Order, higher.(string))
	}
	return false
}

func number(value any) float64 {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case time.Duration:
		return float64(v)
	case float64:
		return v
	}
	panic(fmt.Sprintf("schema: %T has no order", value))
}

// rule writes the checks of the row the way a tag does: min=10ms,max=10m0s.
func (k *Key) rule() string {
	var rule []string
	if k.Min != nil {
		rule = append(rule, fmt.Sprintf("min=%v", k.Min))
	}
	if k.Max != nil {
		rule = append(rule, fmt.Sprintf("max=%v", k.Max))
	}
	if len(k.Words) > 0 {
		rule = append(rule, "oneof="+strings.Join(k.Words, " "))
	}
	if k.Form != "" {
		rule = append(rule, k.Form)
	}
	return strings.Join(rule, ",")
}

// violated names the check of the row that a value, or an item of a list, does
// not pass: min, max, oneof, or the row's form. It is "" if all hold.
func (k *Key) violated(value any) (check string) {
	var failed validator.ValidationErrors
	if errors.As(checks().Var(value, k.rule()), &failed) {
		return failed[0].Tag()
	}
	return ""
}

// Write writes a value the way settings write it, for messages and tables, without
// secrets.
func (k *Key) Write(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case time.Duration:
		if v == 0 && k.ZeroIsOff {
			return "none"
		}
		return units.FormatDuration(v)
	case int64:
		if k.Type == TypeSize {
			return units.FormatSize(v)
		}
	case []string:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = k.visible(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		return k.visible(v)
	}
	return fmt.Sprint(value)
}
