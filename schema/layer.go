package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/document"
)

// LayerSettings are what one layer's settings file says, every value of it
// checked. What did not fit is not in it.
type LayerSettings struct {
	Layer protocol.Layer
	File  string // absolute path; "" if the layer has no settings file
	Hash  string // sha256:… of the file's bytes; "" without a file

	// Values holds the settings that were written and fit, by the key's name.
	Values map[string]Value

	// Use are the entries of hooks.use in their order, those with faults too.
	// A part of the settings that may hold guards and cannot be read at all (use
	// is no list, required has an unreadable item) is an entry without a name
	// whose faults reach every gate.
	Use []Described

	// Unread are values that limit something, cannot be read, and for which nothing can
	// stand: what they bind does not go on.
	Unread []Unread
}

// Value is one setting as a layer wrote it. V has the type of the key's
// default.
type Value struct {
	V   any
	Pos Pos
}

// UnreadableError says that a layer's settings cannot be read as a whole, so
// that nothing is known of the guards they may name. The last good settings
// stay in force.
type UnreadableError struct {
	File    string
	Line    int // 1-based, 0 if unknown
	Message string
	Remedy  string
	Err     error // the cause, if there is one
}

func (e *UnreadableError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("settings %s:%d: %s", e.File, e.Line, e.Message)
	}
	return fmt.Sprintf("settings %s: %s", e.File, e.Message)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// Finding returns the error as a finding.
func (e *UnreadableError) Finding() Finding {
	return NewFinding(Pos{File: e.File, Line: e.Line}, "", SeverityError, CodeUnreadable, e.Message, e.Remedy)
}

// layerReader reads one settings file.
type layerReader struct {
	reader
	layer *LayerSettings
}

// DecodeLayer reads the keys hooks and agent of a parsed settings file and
// leaves all others alone. The error is an [*UnreadableError].
func DecodeLayer(root *document.Node, layer protocol.Layer, file string) (LayerSettings, []Finding, error) {
	result := LayerSettings{Layer: layer, File: file, Values: map[string]Value{}}
	r := &layerReader{reader{file: file}, &result}
	unreadable := func(n *document.Node, message string) error {
		return &UnreadableError{File: file, Line: n.Line, Message: message, Remedy: `write an object with the keys hooks and agent: {"hooks": {"use": []}}`}
	}
	if root.Kind != document.Object {
		return result, nil, unreadable(root, "the file holds "+describe(root)+", not an object")
	}
	count := keyCount(root)
	for _, m := range root.Members {
		switch {
		case m.Key != "hooks" && m.Key != "agent":
			r.foreign(m)
		case count[m.Key] > 1:
			return result, r.findings, unreadable(m.Value, fmt.Sprintf("the key %s is in the file twice", m.Key))
		case m.Key == "hooks" && m.Value.Kind != document.Object:
			return result, r.findings, unreadable(m.Value, "hooks is "+describe(m.Value)+", not an object")
		default:
			r.group(m.Value, m.Key)
		}
	}
	r.sameNames()
	return result, r.said(), nil
}

// foreign notes a key of the file that is not ours but was probably meant to be.
func (r *layerReader) foreign(m document.Member) {
	pos := Pos{r.file, m.Line, join("", m.Key)}
	if m.Key == "<<" {
		r.at(pos, SeverityWarning, CodeUnknownKey, "what << would merge has no effect", "write the keys hooks and agent here; a value may be an alias: agent: *name")
		return
	}
	first, _, dotted := strings.Cut(m.Key, ".")
	if dotted && (first == "hooks" || first == "agent") {
		r.at(pos, SeverityWarning, CodeUnknownKey, fmt.Sprintf("the key %q has no effect: keys are not split at dots", clip(m.Key)), "nest it: "+nest(m.Key))
		r.lostAt(m.Key, m.Line, pos.Path)
		return
	}
	switch ours := meantGroup(m); {
	case ours != "":
		r.at(pos, SeverityWarning, CodeUnknownKey, fmt.Sprintf("the key %q is not read by hookd", clip(m.Key)), fmt.Sprintf("did you mean %q?", ours))
	case m.Key == "use" && m.Value.Kind == document.List:
		r.at(pos, SeverityWarning, CodeUnknownKey, `the key "use" is not read by hookd: it belongs in hooks`, "nest it: "+nest("hooks.use"))
	}
}

// meantGroup returns which of hooks and agent a key was probably meant to be, by its name or
// by the list of hooks in it; "" if it is none of hookd's.
func meantGroup(m document.Member) string {
	groups := []string{"hooks", "agent"}
	for _, ours := range groups {
		if strings.EqualFold(m.Key, ours) || m.Key+"s" == ours || m.Key == ours+"s" {
			return ours
		}
	}
	if near := text.Nearest(m.Key, groups); near != "" {
		return near
	}
	holdsHooks := func(of document.Member) bool { return of.Key == "use" && of.Value.Kind == document.List }
	if m.Value.Kind == document.Object && slices.ContainsFunc(m.Value.Members, holdsHooks) {
		return "hooks"
	}
	return ""
}

func nest(dotted string) string {
	parts := strings.Split(clip(dotted), ".")
	return `{"` + strings.Join(parts, `": {"`) + `": …` + strings.Repeat("}", len(parts))
}

func keyCount(n *document.Node) map[string]int {
	count := map[string]int{}
	for _, m := range n.Members {
		count[m.Key]++
	}
	return count
}

// group reads an object of settings below a key path.
func (r *layerReader) group(n *document.Node, path string) {
	if n.Kind != document.Object {
		r.wrongType(n, path, "an object", "an object with the keys "+strings.Join(children(path), ", "))
		r.lostAt(path, n.Line, path)
		return
	}
	count, names := keyCount(n), children(path)
	for _, m := range n.Members {
		at := join(path, m.Key)
		key := KeyByName(path + "." + m.Key)
		switch {
		case !slices.Contains(names, m.Key) && r.full():
			r.unsaid++
		case !slices.Contains(names, m.Key):
			meant := text.Nearest(m.Key, names)
			if meant == "" {
				meant = m.Key
			}
			r.at(Pos{r.file, m.Line, at}, SeverityError, CodeUnknownKey, fmt.Sprintf("there is no setting %q", clip(at)), didYouMean(meant, names))
			if count[meant] == 0 { // a limit that is misspelt is one that nobody can read
				r.lostAt(path+"."+meant, m.Line, at)
			}
		case count[m.Key] > 1:
			r.at(Pos{r.file, m.Line, at}, SeverityError, CodeDuplicateKey, fmt.Sprintf("the key %s is here more than once, none of its values counts", m.Key), "keep one of them")
			r.lostAt(path+"."+m.Key, m.Line, at)
			count[m.Key] = -1 // said once
		case count[m.Key] < 0:
		case key == nil:
			r.group(m.Value, at)
		default:
			r.setting(key, m.Value, Pos{r.file, m.Line, at})
		}
	}
}

// children lists the keys right below a key path.
func children(path string) []string {
	var names []string
	for i := range Keys {
		rest, below := strings.CutPrefix(Keys[i].Name, path+".")
		if name, _, _ := strings.Cut(rest, "."); below && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// setting reads one value by its row.
func (r *layerReader) setting(key *Key, n *document.Node, pos Pos) {
	if !key.Layers.Has(r.layer.Layer) {
		r.at(pos, SeverityError, CodeWrongLayer, fmt.Sprintf("%s has no effect in the %s settings", key.Name, r.layer.Layer), "remove it; it counts only in "+layerNames(key.Layers))
		return
	}
	value, ok := r.read(key, n, pos.Path)
	if value != nil {
		r.layer.Values[key.Name] = Value{value, pos}
	}
	if !ok {
		r.lost(key, n, pos.Path)
	}
}

func layerNames(layers Layers) string {
	var names []string
	for _, layer := range []protocol.Layer{protocol.Project, protocol.User, protocol.Managed} {
		if layers.Has(layer) {
			names = append(names, string(layer))
		}
	}
	return "the " + strings.Join(names, " and ") + " settings"
}

// Layered holds one value for each plain setting: its default, or what the last
// layer said that was put over it. The library viper keeps the values. Prices, trusted folders and servers are no plain values:
// viper folds the case of names and splits them at dots.
type Layered struct{ values *viper.Viper }

// allLayers are the layers from the highest to the lowest.
var allLayers = []protocol.Layer{protocol.Managed, protocol.User, protocol.Project}

// NewLayered returns settings in which every value is its key's default.
func NewLayered() *Layered {
	l := &Layered{viper.New()}
	for i := range Keys {
		switch k := &Keys[i]; {
		case k.Default == nil:
		case k.Tighter == OwnLayer:
			for _, layer := range allLayers {
				l.values.SetDefault(k.PathFor(layer), k.Default)
			}
		default:
			l.values.SetDefault(k.Name, k.Default)
		}
	}
	return l
}

// PathFor is where the value of a layer is kept. A key whose values are for each
// layer's own hooks has one for each.
func (k *Key) PathFor(layer protocol.Layer) string {
	if k.Tighter == OwnLayer {
		return k.Name + "." + string(layer)
	}
	return k.Name
}

// Get returns the value at the path of a key.
func (l *Layered) Get(path string) any { return l.values.Get(path) }

// Put puts values over those that are there, by the paths of their keys. The
// values have passed the checks of their rows.
func (l *Layered) Put(values map[string]any) {
	nested := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		at, names := nested, strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			below, _ := at[name].(map[string]any)
			if below == nil {
				below = map[string]any{}
				at[name] = below
			}
			at = below
		}
		at[names[len(names)-1]] = values[path]
	}
	if err := l.values.MergeConfigMap(nested); err != nil {
		panic("schema: " + err.Error()) // it never returns one
	}
}

// Settings returns the values as settings. Each value goes to the field of its key by
// itself: viper's own decoder, which also makes texts into numbers, takes half as long as
// reading all the settings does.
func (l *Layered) Settings() Settings {
	var s Settings
	for i := range Keys {
		k := &Keys[i]
		place := k.place(&s)
		switch {
		case !k.Plain():
		case !place.IsValid():
			panic("schema: there is no field for " + k.Name)
		case k.Tighter == OwnLayer:
			for _, layer := range allLayers {
				value := reflect.New(place.Type().Elem()).Elem()
				if !l.copyTo(value, k.PathFor(layer)) {
					continue
				}
				if place.IsNil() {
					place.Set(reflect.MakeMapWithSize(place.Type(), len(allLayers)))
				}
				place.SetMapIndex(reflect.ValueOf(layer), value)
			}
		default:
			l.copyTo(place, k.Name)
		}
	}
	return s
}

// copyTo sets a field to the value at a path, which has the type of its key. A list is
// copied, so that nobody changes a layer's. It returns false if no layer says anything, and
// there is no default.
func (l *Layered) copyTo(place reflect.Value, path string) bool {
	value := l.values.Get(path)
	if list, is := value.([]string); is {
		value = slices.Clone(list)
	}
	if value != nil {
		place.Set(reflect.ValueOf(value).Convert(place.Type()))
	}
	return value != nil
}

// DefaultSettings returns settings in which every value is its key's default. In
// settings that are made by hand 0 means 0, so begin with these.
func DefaultSettings() Settings { return NewLayered().Settings() }

// Complete gives every key whose range has no 0, and whose value is 0, its default.
func (s *Settings) Complete() {
	for i := range Keys {
		k := &Keys[i]
		ordered := k.Type == TypeInt || k.Type == TypeSize || k.Type == TypeDuration
		if !ordered || number(k.Min) <= 0 {
			continue
		}
		if place := k.place(s); place.IsZero() {
			place.SetInt(reflect.ValueOf(k.Default).Int())
		}
	}
}

// place is the field of a key, which has the key's path.
func (k *Key) place(s *Settings) reflect.Value {
	at := reflect.ValueOf(s).Elem()
	for name := range strings.SplitSeq(k.Name, ".") {
		if at = fieldNamed(at, name); !at.IsValid() {
			break
		}
	}
	return at
}

// fieldNamed returns the field of a struct that a part of a path names, the zero Value if none.
func fieldNamed(of reflect.Value, name string) reflect.Value {
	for i := range of.NumField() {
		if f := of.Type().Field(i); strings.EqualFold(f.Name, name) || f.Tag.Get("mapstructure") == name {
			return of.Field(i)
		}
	}
	return reflect.Value{}
}
