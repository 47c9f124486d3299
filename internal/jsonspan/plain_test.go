package jsonspan

import (
	"bytes"
	stdjson "encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// F55: what hooks read has no escape that JSON does not ask for.
func TestStringsArePlain(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`"git pus\u0068"`, `"git push"`},
		{`"git\u0020push"`, `"git push"`},
		{`"\u0067\u0069\u0074 \u0070ush"`, `"git push"`},
		{`"git\tpush"`, `"git\tpush"`},
		{`"git\u0009push"`, `"git\tpush"`},
		{`"a\/b"`, `"a/b"`},
		{`"\u0022\u005c\u002f"`, `"\"\\/"`},
		{`"\u0008\u000a\u000B\u000c\u000d\u0000\u001F"`, `"\b\n\u000B\f\r\u0000\u001F"`},
		{`"\u007f\u00e9\u2028\ufeff"`, "\"\u007fé\u2028\ufeff\""},
		{`"\ud83d\ude00 \uD83D\uDE00"`, `"😀 😀"`},
		{`"\ud800\u0041"`, `"\ud800A"`},
		{`"\udc00\ud83d\ud83d\ude00\ud83d"`, `"\udc00\ud83d😀\ud83d"`},
		{`"\\u0068 \\\u0068 \"\u0022"`, `"\\u0068 \\h \"\""`},
		{`{"\u0061b":[1e400,"\u0061"]}`, `{"ab":[1e400,"a"]}`},
		{`{"a":"b"}`, `{"a":"b"}`},
		{``, ``},
	} {
		in := stdjson.RawMessage(c.in)
		got := Plain(in)
		if string(got) != c.want {
			t.Errorf("%s becomes\n%s, not\n%s", c.in, got, c.want)
		}
		if string(in) != c.in {
			t.Errorf("%s was written to: %s", c.in, in)
		}
		if again := Plain(got); !bytes.Equal(again, got) {
			t.Errorf("%s is plain and becomes %s", got, again)
		}
	}
}

// Every spelling of a text reads the same, and is the same text.
func TestEverySpellingReadsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 55))
	const letters = "git push\t\"\\/\n\x01é😀<&>\u2028"
	for range 2000 {
		text, spelled := "", `"`
		for range r.IntN(20) {
			c := []rune(letters)[r.IntN(len([]rune(letters)))]
			text += string(c)
			switch quoted := string(Quote(string(c))); {
			case r.IntN(2) == 0:
				spelled += quoted[1 : len(quoted)-1]
			case c > 0xffff:
				spelled += `\uD83d\uDe00`
			default:
				spelled += `\u` + strings.Repeat("0", 4-len(hex(c))) + hex(c)
			}
		}
		plain := Plain(stdjson.RawMessage(spelled + `"`))
		if got := Unquote(plain); got != text {
			t.Fatalf("%s\" is %q, not %q", spelled, got, text)
		}
		if want := Quote(text); !strings.Contains(text, "\x01") && string(plain) != string(want) {
			t.Fatalf("%s\" becomes %s, not %s", spelled, plain, want)
		}
	}
}

func hex(r rune) string {
	const digits = "0123456789abcdef"
	out := ""
	for ; r > 0; r >>= 4 {
		out = string(digits[r&15]) + out
	}
	return out
}

// FuzzPlain: the plain form of valid JSON is valid, says the same and is no longer.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{`"\u0061"`, `{"\u0061":"\ud83d\ude00\/"}`, `"\\\\u0061"`, `["\ud800","\u0000"]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v := stdjson.RawMessage(in)
		plain := Plain(v)
		if len(plain) > len(v) {
			t.Fatalf("%q grew to %q", v, plain)
		}
		if !Valid(v) {
			return
		}
		if !Valid(plain) || Canonical(plain) != Canonical(v) || !bytes.Equal(Plain(plain), plain) {
			t.Fatalf("%q becomes %q", v, plain)
		}
		var a, b any
		lenient := jsontext.AllowInvalidUTF8(true)
		if json.Unmarshal(v, &a, lenient) == nil && json.Unmarshal(plain, &b, lenient) != nil {
			t.Fatalf("%q becomes %q, which does not decode", v, plain)
		}
	})
}

func BenchmarkPlain(b *testing.B) {
	for name, text := range map[string]string{
		"no escape":    `{"text":"` + strings.Repeat("all work and no play ", 5000) + `"}`,
		"line ends":    `{"text":"` + strings.Repeat(`a line of some text\n`, 5000) + `"}`,
		"all needless": `{"text":"` + strings.Repeat(`\u0061`, 17000) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Plain(stdjson.RawMessage(text))
			}
		})
	}
}
