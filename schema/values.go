package schema

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/schema/document"
)

// read returns the value of a setting, or nil if it does not count. ok is false
// if a part of it was lost.
func (r *layerReader) read(key *Key, n *document.Node, path string) (value any, ok bool) {
	switch key.Type {
	case TypeEntries:
		return nil, r.use(n, path)
	case TypePrices:
		return structs[Price](r, n, path, `[{"model": "…", "inputPerMTok": 3, "outputPerMTok": 15}]`)
	case TypeFolders:
		return structs[TrustedFolder](r, n, path, `[{"path": "/work", "owners": ["1000"]}]`)
	case TypeServers:
		return r.servers(n, path)
	case TypeList:
		return r.checkedList(key, n, path)
	case TypeBool:
		value, ok = r.bool(n, path)
	case TypeInt:
		value, ok = r.int(n, path)
	case TypeSize:
		value, ok = r.size(n, path)
	case TypeShare, TypeMoney:
		value, ok = r.share(n, path)
	case TypeDuration:
		if key.ZeroIsOff && n.Kind == document.String && n.Text == "none" {
			return key.Default, true
		}
		value, ok = r.duration(n, path)
	default:
		value, ok = r.text(n, path)
	}
	if !ok || !r.fits(key, n, path, value) {
		return nil, false
	}
	return value, true
}

// fits runs the row's check on one value.
func (r *layerReader) fits(key *Key, n *document.Node, path string, value any) bool {
	failed := key.violated(value)
	want := ""
	switch failed {
	case "":
		return true
	case "min", "max":
		want = key.Write(key.Min) + " to " + key.Write(key.Max)
	case "oneof":
		want = oneOf(key.Words)
		if near := text.Nearest(value.(string), key.Words); len(key.Words) > 6 && near != "" {
			want = fmt.Sprintf("%q, or another %s", near, want)
		}
	default:
		want = forms[failed].want
	}
	r.fault(n, path, codeFor(failed), lastKey(path)+" is "+shownAs(key, value), "write "+want)
	return false
}

func shownAs(key *Key, value any) string {
	if text, ok := value.(string); ok {
		return shown(key.visible(text))
	}
	return key.Write(value)
}

// credentials are what stands in front of a host, and after a question mark.
var credentials = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^((?:[a-z]+://)?)[^/@]*@|\?.*`) })

// visible returns a text of a setting without what only the server that it is for may read:
// what is said of a setting goes to screens and logs.
func (k *Key) visible(text string) string {
	switch k.Form {
	case "header":
		name, _, found := strings.Cut(text, ":")
		if !found || len(name) > 40 {
			return "…"
		}
		return name + ": …"
	case "weburl":
		return credentials().ReplaceAllStringFunc(text, func(found string) string {
			if strings.HasPrefix(found, "?") {
				return "?…"
			}
			scheme := credentials().FindStringSubmatch(found)[1]
			return scheme + "…@"
		})
	}
	return text
}

// checkedList reads a list; items that do not fit are noted and left out.
func (r *layerReader) checkedList(key *Key, n *document.Node, path string) (any, bool) {
	if n.Kind != document.List {
		if key.Form == "header" && n.Kind == document.String {
			n = &document.Node{Kind: n.Kind, Line: n.Line, Text: key.visible(n.Text)}
		}
		r.wrongType(n, path, "a list", listLike(n))
		return nil, false
	}
	items, complete := []string{}, true
	single := Key{Name: key.Name, Type: TypeText, Words: key.Words, Form: key.Form}
	for i, item := range n.Items {
		at := index(path, i)
		text, ok := r.text(item, at)
		switch {
		case ok && text == "":
			r.fault(item, at, CodeBadValue, lastKey(at)+" is empty", "remove it")
			complete = false
		case !ok || !r.fits(&single, item, at, text):
			complete = false
		case !slices.Contains(items, text):
			items = append(items, text)
		}
	}
	return items, complete
}

// lost takes care of a value that was written and cannot be read. It may have held a guard
// or a limit, so it is never as if it had not been written: its row says what stands in
// its place.
func (r *layerReader) lost(key *Key, n *document.Node, path string) {
	if key == nil || !key.Layers.Has(r.layer.Layer) {
		return
	}
	pos := Pos{r.file, n.Line, path}
	switch stands := key.Unread.(type) {
	case nil:
	case refusal:
		r.refuse(key, n, pos)
	case []string:
		items, _ := r.layer.Values[key.Name].V.([]string)
		items = append([]string{}, items...)
		for _, item := range stands {
			if !slices.Contains(items, item) {
				items = append(items, item)
			}
		}
		r.layer.Values[key.Name] = Value{items, pos}
	default:
		r.layer.Values[key.Name] = Value{stands, pos}
	}
}

// refuse keeps what a key binds from going on without a value that cannot be read.
func (r *layerReader) refuse(key *Key, n *document.Node, pos Pos) {
	switch {
	case key.Type == TypeEntries && n.Kind == document.List:
		// Each faulty entry stands for itself.
	case key.For == ForRun, key.For == ForHooksBelow, key.For == ForShared:
		r.layer.Unread = append(r.layer.Unread, Unread{key.Name, pos})
	default: // it may have named guards
		r.layer.Use = append(r.layer.Use, Described{
			From: FromSettings, Hook: pos.Path, Pos: pos, Faults: fieldNames(reflect.ValueOf(Entry{})),
		})
	}
}

// lostAt takes care of a key, or a whole group, that is written at path and cannot be read.
func (r *layerReader) lostAt(name string, line int, path string) {
	unread := &document.Node{Line: line}
	if key := KeyByName(name); key != nil {
		r.lost(key, unread, path)
		return
	}
	for i := range Keys {
		if strings.HasPrefix(Keys[i].Name, name+".") {
			r.lost(&Keys[i], unread, path)
		}
	}
}

// MatchesNothing stands in a list of commands that are allowed for what nobody
// can read in it: without it the list may be empty, which allows all.
const MatchesNothing = `/[^\s\S]/`

// maxEntries bounds hooks.use; no layer can have more hooks than that.
const maxEntries = 10_000

func (r *layerReader) use(n *document.Node, path string) bool {
	if len(n.Items) > maxEntries {
		r.fault(n, path, CodeOutOfRange, fmt.Sprintf("use has %d entries", len(n.Items)), fmt.Sprintf("write at most %d", maxEntries))
		r.lost(KeyByName("hooks.use"), &document.Node{Line: n.Line}, path)
		return true
	}
	if n.Kind != document.List {
		r.wrongType(n, path, "a list of entries", `a list: [{"name": "guard.sh", "can": "block"}]`)
		return false
	}
	for i, item := range n.Items {
		at := index(path, i)
		d, findings := DecodeEntry(item, FromSettings, Pos{File: r.file, Line: item.Line, Path: at}, "")
		if d.Hook == "" {
			d.Hook = at
		}
		r.layer.Use = append(r.layer.Use, d)
		for _, f := range findings {
			if r.full() {
				r.unsaid++
				continue
			}
			r.findings = append(r.findings, f)
		}
	}
	return true
}

// sameNames rejects every entry for a hook that an earlier one describes.
func (r *layerReader) sameNames() {
	first := map[string]int{}
	for i := range r.layer.Use {
		d := &r.layer.Use[i]
		if d.Name == nil {
			continue
		}
		if at, twice := first[*d.Name]; twice {
			r.hook = *d.Name
			r.at(d.At("name"), SeverityError, CodeDuplicateName, fmt.Sprintf("%s has an entry already, in line %d", *d.Name, r.layer.Use[at].Pos.Line), "merge the two entries, or give this one another name")
			r.hook = ""
			d.Faults = append(d.Faults, "name")
			continue
		}
		first[*d.Name] = i
	}
}

// structs reads a list of objects of one shape. One that does not fit is noted
// and left out.
func structs[T any](r *layerReader, n *document.Node, path, example string) (any, bool) {
	if n.Kind != document.List {
		r.wrongType(n, path, "a list", "a list: "+example)
		return nil, false
	}
	list, complete := []T{}, true
	for i, item := range n.Items {
		at := index(path, i)
		var one T
		if r.value(item, at, reflect.ValueOf(&one).Elem(), shape{}) && len(r.checkStruct(item, at, &one)) == 0 {
			list = append(list, one)
		} else {
			complete = false
		}
	}
	return list, complete
}

func (r *layerReader) servers(n *document.Node, path string) (any, bool) {
	if n.Kind != document.Object {
		r.wrongType(n, path, "an object", `an object of servers: {"NAME": {"command": "…"}}`)
		return nil, false
	}
	servers, count := map[string]MCPServer{}, keyCount(n)
	for _, m := range n.Members {
		at := join(path, m.Key)
		s := MCPServer{Layer: r.layer.Layer, Line: m.Line}
		switch {
		case count[m.Key] > 1:
			r.fault(m.Value, at, CodeDuplicateKey, fmt.Sprintf("the server %s is here more than once", m.Key), "keep one of them")
		case !r.value(m.Value, at, reflect.ValueOf(&s).Elem(), shape{tolerant: true}):
		case (s.Command == "") == (s.URL == ""):
			r.fault(m.Value, at, CodeBadValue, lastKey(at)+" has neither or both of command and url", "write command for a server to start, or url for one that runs")
		default:
			servers[m.Key] = s
		}
	}
	return servers, true
}
