package jsonspan

import (
	"testing"
)

func TestMemberList(t *testing.T) {
	text := `{ "b":1.10, "\u0061": {"x":[ ]}, "b" : 2, "c":null }`
	o := ReadMemberList([]byte(text))
	if got := string(o.JSON()); got != `{"b":2,"a":{"x":[ ]},"c":null}` {
		t.Errorf("read and written: %s", got)
	}
	if string(o.Get("a")) != `{"x":[ ]}` || o.Get("d") != nil {
		t.Errorf("Get: %s, %s", o.Get("a"), o.Get("d"))
	}
	before := o
	o.Remove("a")
	o.Remove("nothing")
	o.Set("c", Quote("<\n>"))
	o.Set("d\"", []byte("7"))
	if got := string(o.JSON()); got != `{"b":2,"c":"<\n>","d\"":7}` {
		t.Errorf("changed: %s", got)
	}
	if string(before.Get("a")) != `{"x":[ ]}` {
		t.Error("Remove changed a copy of the object")
	}
	for _, none := range []string{``, `[1]`, `null`, `{}`} {
		if got := string(ReadMemberList([]byte(none)).JSON()); got != `{}` {
			t.Errorf("%q: %s", none, got)
		}
	}
	if got := string(JoinList(Elements([]byte(`[ 1, {"a" :2}]`)))); got != `[1,{"a" :2}]` {
		t.Errorf("JoinList: %s", got)
	}
	if got := string(JoinList(nil)); got != `[]` {
		t.Errorf("JoinList of nothing: %s", got)
	}
}

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		x, y        string
		same, equal bool
	}{
		{`1`, `1`, true, true},
		{`1`, `1.0`, true, false},
		{`-0.0`, `0e7`, true, false},
		{`100`, `1e2`, false, false}, // the power is written: another number
		{`1E+02`, `1.0e2`, true, false},
		{`0.10`, `0.1`, true, false},
		{`10`, `1`, false, false},
		{`0.01`, `0.1`, false, false},
		{`-1`, `1`, false, false},
		{`12345678901234567890`, `12345678901234567891`, false, false},
		{`{"a":[1.0,"\u0041"],"b":null}`, `{ "b":null, "a":[1,"A"] }`, true, false},
		{`{"a":[1]}`, `{"a":[1,2]}`, false, false},
		{`1`, `"1"`, false, false},
		{`true`, `false`, false, false},
	} {
		for range 2 {
			if SameValue([]byte(c.x), []byte(c.y)) != c.same || Equal([]byte(c.x), []byte(c.y)) != c.equal {
				t.Errorf("%s and %s: same is %v, equal is %v", c.x, c.y, !c.same, !c.equal)
			}
			c.x, c.y = c.y, c.x
		}
	}
}
