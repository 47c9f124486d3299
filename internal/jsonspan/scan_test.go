package jsonspan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// FuzzStrict holds our check of JSON against the one of the library: both accept
// the same, and find the same members.
func FuzzStrict(f *testing.F) {
	for _, text := range []string{
		` {"a":[1,-0.5e+3,"x\u0041\ud83d\ude00\\\"",true,false,null,{}],"b":{"c":[]}} `, `{"a":1,"\u0061":2}`, `{"a":{"b":1,"b":2}}`,
		`"\ud800"`, `"\udc00\ud800"`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"a\nb\"", `01`, `-`, `1.`, `1e`, `.5`, `+1`, `tru`, `nullx`, `[1,]`, `[,1]`, `{"a":1,}`, `{,}`, `{"a" 1}`,
		`{}{}`, ``, ` `, `"`, `"\`, `"\u12`, `"\x"`, "\"\x7f\u2028\"", `{"a":1 "b":2}`, `[1 2]`, "\x0b1", "[\t1\r\n]",
		strings.Repeat("[", 600) + strings.Repeat("]", 600), `{"a":` + strings.Repeat(`{"a":`, 20) + `1` + strings.Repeat(`}`, 21),
		`{` + manyMembers(60) + `}`, `{` + manyMembers(60) + `,"m7":0}`, `{` + manyMembers(23) + `,"m22":0}`, `{` + manyMembers(24) + `,"m23":0}`, `{` + manyMembers(25) + `,"m0":0}`,
		`[{"a":1},{"a":2}]`, `{"a":{"a":{"a":1}},"b":{"a":1}}`, `"0123456\u00e9789é 日本語 "`, `"1234567` + "\x1f" + `"`,
	} {
		f.Add([]byte(text), 512)
		f.Add([]byte(text), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, depth int) {
		if depth < 1 || depth > 20000 {
			return
		}
		members, valid := ScanObject(text, depth)
		wantValid := jsontext.Value(text).IsValid() && !DeeperThan(text, depth)
		if valid != wantValid {
			t.Fatalf("valid is %v at depth %d, the library says %v of %q", valid, depth, wantValid, text)
		}
		if !valid || Kind(text) != '{' {
			return
		}
		var names, wantNames []string
		for _, m := range members {
			names = append(names, m.Name+" "+string(m.Value))
		}
		dec := jsontext.NewDecoder(bytes.NewReader(text))
		dec.ReadToken()
		for dec.PeekKind() == '"' {
			name, _ := dec.ReadToken()
			text := name.String()
			value, _ := dec.ReadValue()
			wantNames = append(wantNames, text+" "+string(value))
		}
		if !slices.Equal(names, wantNames) {
			t.Fatalf("members %q, the library finds %q", names, wantNames)
		}
		if listed := Members(text); !cmp.Equal(listed, members) {
			t.Fatalf("members %v, walking finds %v", members, listed)
		}
	})
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":%d`, i, i)
	}
	return b.String()[1:]
}

// FuzzWalk walks bytes that are no JSON: a host in Go may hand in anything.
func FuzzWalk(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"c"}]}`, `[}`, `{"a`, `{"a":`, `{]`, `{"a":}`, `"\`, `{:`, ``, ` `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if DeeperThan(b, 500) {
			t.Skip()
		}
		Canonical(b)
		Equal(b, append(bytes.Clone(b), ' '))
		(*Budget)(nil).MergePatch(b, b)
		(*Budget)(nil).Edit(b, bytes.ToUpper(b))
		Offset(b, "/a/0/b")
		OneLine(b)
		Elements(b)
		if end, ok := LenientEnd(b, 0); ok && end > len(b) {
			t.Fatalf("a value of %d bytes ends at %d", len(b), end)
		}
	})
}
