package testfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/schema/document"
)

// Want is what must come out of a test.
type Want struct {
	Verdict string // one of Verdicts, "" if nothing is said about it
	Failure string // one of Failures, "" if the hook must not fail
	Reason  *Text  // nil if nothing is said about it
	Context *Text
	Notice  *Text
	Changed []Field // meant if AllChanged
	// AllChanged says that Changed are all the fields that the hook may change.
	AllChanged bool
}

// Field is a field that a hook changes: a JSON Pointer below data, and what it is
// afterwards.
type Field struct {
	Pointer string
	Value   json.RawMessage // null if it is gone
}

func (r *reader) want(n *document.Node, path string) (w Want) {
	if n.Kind == document.String {
		w.Verdict = r.word(n, path, "verdict", Verdicts)
		return w
	}
	if n.Kind != document.Object {
		r.wrong(n, path, "expect is "+n.Kind.String()+", not a verdict or an object", "write expect: block, or expect: { verdict: block, reason: … }")
		return w
	}
	members := r.members(n, path, WantKeys)
	if len(n.Members) == 0 {
		r.wrong(n, path, "expect says nothing", "write expect: block, or another verdict: "+strings.Join(Verdicts, ", "))
	}
	if verdict := members["verdict"]; verdict != nil {
		w.Verdict = r.word(verdict, path+".verdict", "verdict", Verdicts)
	}
	if failure := members["failure"]; failure != nil {
		w.Failure = r.word(failure, path+".failure", "failure", Failures)
	}
	w.Reason = r.text(members["reason"], path+".reason", "reason")
	w.Context = r.text(members["context"], path+".context", "context")
	w.Notice = r.text(members["notice"], path+".notice", "notice")
	if changed := members["changed"]; changed != nil {
		w.Changed, w.AllChanged = r.changed(changed, path+".changed"), true
	}
	return w
}

// word reads one of several words.
func (r *reader) word(n *document.Node, path, what string, words []string) string {
	if n.Kind == document.String && slices.Contains(words, n.Text) {
		return n.Text
	}
	if n.Kind != document.String {
		r.wrong(n, path, what+" is "+n.Kind.String()+", not a word", "one of "+strings.Join(words, ", "))
		return ""
	}
	remedy := "one of " + strings.Join(words, ", ")
	if near := text.Nearest(n.Text, words); near != "" {
		remedy = fmt.Sprintf("did you mean %q? It is ", near) + remedy
	}
	r.wrong(n, path, fmt.Sprintf("there is no %s %q", what, clip(n.Text)), remedy)
	return ""
}

func (r *reader) changed(n *document.Node, path string) (fields []Field) {
	const form = `write the fields with their new values: { /args/command: "ls -la" }`
	if n.Kind != document.Object {
		r.wrong(n, path, "changed is "+n.Kind.String()+", not an object", form)
		return nil
	}
	seen := map[string]bool{}
	for _, m := range n.Members {
		at := &document.Node{Line: m.Line}
		switch {
		case !strings.HasPrefix(m.Key, "/"):
			r.wrong(at, path, fmt.Sprintf("%q is no JSON Pointer below data", clip(m.Key)), "write /"+strings.ReplaceAll(clip(m.Key), ".", "/"))
			continue
		case seen[m.Key]:
			r.wrong(at, path, fmt.Sprintf("the key %s is here twice", clip(m.Key)), "keep one of them")
			continue
		}
		seen[m.Key] = true
		if value := r.json(m.Value, path, m.Key, Any); value != nil {
			fields = append(fields, Field{m.Key, value})
		}
	}
	return fields
}
