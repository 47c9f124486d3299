package discover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/loader/internal/files"
)

// show writes a header's pairs in a short form for tables.
func show(h header) string {
	var parts []string
	for _, p := range h.pairs {
		parts = append(parts, p.Key+"="+p.Value)
	}
	return strings.Join(parts, " ")
}

func TestParseHeader(t *testing.T) {
	manyLines := strings.Repeat("# filler\n", 39)
	tests := []struct {
		name, text string
		want       string
		err        string
		late       int
	}{
		{"the protocol's example", "#!/bin/sh\n# hook: events=tool-call-start match.tool=bash can=block onFailure=block timeout=5s\n",
			"events=tool-call-start match.tool=bash can=block onFailure=block timeout=5s", "", 0},
		{"none", "#!/bin/sh\necho hook: events=x\n# a hook: can=block\n", "", "", 0},
		{"every comment mark", "# hook: can=a\n// hook: mode=b\n-- hook: run=c\n; hook: env=d\n% hook: files=e\nREM hook: priority=5\n",
			"can=a mode=b run=c env=d files=e priority=5", "", 0},
		{"blanks around", "  \t#\t hook:\tcan=block \t mode=audit  \n", "can=block mode=audit", "", 0},
		{"no blank behind the mark", "#hook:can=block\n", "can=block", "", 0},
		{"two marks are none", "## hook: can=block\n", "", "", 0},
		{"several lines add up", "# hook: can=block\n# hook: match.tool=bash\n\n# hook: match.step=final\n", "can=block match.tool=bash match.step=final", "", 0},
		{"quoted", `# hook: description="says \"no\", é" match.tool="bash, edit"` + "\n", `description=says "no", é match.tool=bash, edit`, "", 0},
		{"repeated key stays for the schema", "# hook: can=block\n# hook: can=observe\n", "can=block can=observe", "", 0},
		{"equals sign in a value", "# hook: match.when=a==b\n", "match.when=a==b", "", 0},
		{"CRLF", "#!/bin/sh\r\n# hook: can=block\r\n", "can=block", "", 0},
		{"byte order mark", "\ufeff# hook: can=block\n", "can=block", "", 0},
		{"no line end", "# hook: can=block", "can=block", "", 0},
		{"line 40 counts", manyLines + "# hook: can=block\n", "can=block", "", 0},
		{"line 41 does not", manyLines + "#\n# hook: can=block\n", "", "", 41},
		{"prose", "# hook: this guards the shell\n", "", `line 1: "this" is no key=value pair`, 0},
		{"nothing", "\n# hook:\n", "", "line 2: nothing follows hook:; write key=value pairs", 0},
		{"no value", "# hook: can= mode=audit\n", "mode=audit", "line 1: can has no value", 0},
		{"open quote", `# hook: events=x description="abc` + "\n", "events=x", "line 1: description: the closing quote is missing", 0},
		{"quote inside", `# hook: description=a"b` + "\n", "", "line 1: description: a quote inside a bare value; put the whole value in double quotes", 0},
		{"text behind a quote", `# hook: description="a"b` + "\n", "", "line 1: description: something follows the closing quote", 0},
		{"bad escape", `# hook: description="\x"` + "\n", "", "line 1: description: not a JSON string", 0},
		{"invalid UTF-8", "# hook: description=\xff\n", "", "line 1: the header line is not valid UTF-8", 0},
		{"a later line is still read", "# hook: nonsense\n# hook: can=block\n", "can=block", `line 1: "nonsense" is no key=value pair`, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := parseHeader([]byte(test.text), true)
			if diff := cmp.Diff(test.want, show(h)); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
			got := ""
			if len(h.faults) > 0 {
				got = fmt.Sprintf("line %d: %s", h.faults[0].Line, h.faults[0].Message)
			}
			if !strings.HasPrefix(got, test.err) || (test.err == "") != (got == "") {
				t.Errorf("error %q, want %q", got, test.err)
			}
			if h.late != test.late {
				t.Errorf("late = %d, want %d", h.late, test.late)
			}
		})
	}
}

func TestHeaderEndsAtTheLimit(t *testing.T) {
	head := []byte(strings.Repeat("#", files.HeadLimit-10) + "\n# hook: can=block timeout=5s\n")[:files.HeadLimit]
	h := parseHeader(head, false)
	if len(h.faults) != 1 || !strings.Contains(h.faults[0].Message, fmt.Sprint(files.HeadLimit)) {
		t.Errorf("a header line cut by the limit: faults %v", h.faults)
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add([]byte("# hook: events=tool-call-start match.tool=/a,b/,{c,d} can=block\n"), true)
	f.Add([]byte("// hook: description=\"\\u00e9\"\n"), false)
	f.Add([]byte("\xef\xbb\xbf# hook: a.b.c=1 a.b=2 a=3\n"), true)
	f.Fuzz(func(t *testing.T, head []byte, whole bool) {
		h := parseHeader(head, whole)
		for _, fault := range h.faults {
			if fault.Line < 1 || fault.Line > headerLines || fault.Message == "" {
				t.Errorf("fault without a place: %+v", fault)
			}
		}
		if again := parseHeader(head, whole); show(again) != show(h) {
			t.Error("two readings differ")
		}
	})
}
