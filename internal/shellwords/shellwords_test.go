package shellwords

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookd-dev/hookd/protocol/patterns"
)

func pattern(t testing.TB, text string) patterns.Pattern {
	t.Helper()
	p, err := patterns.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shown is a command in one line: its words in brackets where they are not literal.
func shown(c *Command) string {
	var parts []string
	word := func(before string, w Word) {
		if !w.Literal {
			w.Text = "[" + w.Text + "]"
		}
		parts = append(parts, before+w.Text)
	}
	for _, w := range c.Sets {
		word("set ", w)
	}
	for _, w := range c.Words {
		word("", w)
	}
	for _, w := range c.Writes {
		word(w.Operator+" ", w.Target)
	}
	if c.Given {
		parts = append(parts, "(given)")
	}
	if c.Unclear != "" {
		parts = append(parts, "(unclear)")
	}
	return strings.Join(parts, " ")
}

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                               nil,
		"ls -l":                          {"ls -l"},
		`"l"s '-l' \x "a\"b"`:            {`ls -l x a"b`},
		"ls && rm x | cat":               {"ls", "rm x", "cat"},
		"A=1 B=$X ls":                    {"set A=1 set [B=$X] ls"},
		"export A=1 -p":                  {"export A=1 -p"},
		"echo $(date) *.go {a,b} a\\*":   {"echo [$(date)] [*.go] [{a,b}] a*", "date"},
		"echo x > f 2>&1 >/dev/null":     {"echo x > f"},
		"> $F":                           {"> [$F]"},
		"sudo -u root rm x":              {"sudo -u root rm x", "root rm x (given)", "rm x (given)"},
		"timeout 5 env A=b nice -n 5 ls": {"timeout 5 env A=b nice -n 5 ls", "env A=b nice -n 5 ls (given)", "nice -n 5 ls (given)", "5 ls (given)", "ls (given)"},
		"sh -c 'ls; rm x'":               {"sh -c ls; rm x", "ls (given)", "rm x (given)"},
		"echo a | xargs rm":              {"echo a", "xargs rm", "rm […] (given)"},
		"find . -exec grep {} ;":         {"find . -exec grep {}", "grep [{}] […] (given)"},
		`find . -exec grep {} \;`:        {"find . -exec grep {} ;", "grep [{}] ; […] (given)"},
		"sh -c \"$X\"":                   {"sh -c [\"$X\"]", "sh -c [\"$X\"] (given) (unclear)"},
		"trap 'rm x' EXIT":               {"rm x (given)", "trap rm x EXIT"},
		"trap \"$X\" EXIT":               {"trap [\"$X\"] EXIT (unclear)"},
		"trap - EXIT":                    {"trap - EXIT"},
		"(( n + 1 ))":                    nil,
		"(( $n + 1 ))":                   {"(( $n + 1 ))"},
		"for PATH in .; do ls; done":     {"set [PATH=PATH in .]", "ls"},
	} {
		l := Split(line)
		var got []string
		for i := range l.Commands {
			got = append(got, shown(&l.Commands[i]))
		}
		if diff := cmp.Diff(want, got); diff != "" || l.Err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", line, l.Err, diff)
		}
	}
	for _, bad := range []string{"echo 'x", "if true", strings.Repeat("a ", maxText), strings.Repeat("$(", 9000), strings.Repeat("a;", maxCommands+1)} {
		if Split(bad).Err == nil {
			t.Errorf("%.20q was read", bad)
		}
	}
}

// Callers that work words out get what a line gives its variables, and what a command
// reads.
func TestValuesAndInput(t *testing.T) {
	lit := func(text string) Word { return Word{Text: text, Literal: true} }
	l := Split("A=1 B=$X; for f in a 'b c'; do ls; done; C=(x y); cat <<E\ntext $A\nE\ncat <<< 'word'")
	want := map[string][]Word{"A": {lit("1")}, "B": {{Text: "$X"}}, "f": {lit("a"), lit("b c")}, "C": {lit("x"), lit("y")}}
	if diff := cmp.Diff(want, l.Values, cmpopts.IgnoreUnexported(Word{})); diff != "" || l.Err != nil {
		t.Errorf("%v (-want +got):\n%s", l.Err, diff)
	}
	var inputs []string
	for _, c := range l.Commands {
		if c.Input != "" {
			inputs = append(inputs, c.Input)
		}
	}
	if diff := cmp.Diff([]string{"text $A", "'word'"}, inputs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		pattern, line string
		want          Answer
	}{
		{"rm", "rm -rf x", Yes},
		{"rm", "echo rm", No},
		{"rm", "echo $X", No}, // a literal program of another name decides it
		{"rm", "$X x", Undecided},
		{"rm *", "sudo /bin/rm x", Yes},
		{"git push", "git -C sub push origin", Yes},
		{"git push", "git $X", Undecided},
		{"git push", "git pus?", Undecided},
		{"git push", "git status $X", No},
		{"/(curl|wget) .*/", "echo $X", No},
		{"/(curl|wget) .*/", "wget $X", Yes},
		{"*secret*", "cat $X", Undecided},
		{"*secret*", "cat x", No},
		{"cd sub && make", "cd  sub &&  make", Yes},
		{"rm", "echo 'x; rm y", Yes},
		{"rm", "echo 'x", Undecided},
		{"rm", "trap \"$X\" EXIT", Undecided},
		{"rm", "trap 'rm x' EXIT", Yes},
		{"rm", "trap 'echo' EXIT", No},
	} {
		got, command := Split(c.line).Compare(pattern(t, c.pattern))
		if got != c.want || (command == nil) != (got == No) {
			t.Errorf("%s with %s: %v (%v), want %v", c.line, c.pattern, got, command, c.want)
		}
	}
}

func TestAdmits(t *testing.T) {
	for _, c := range []struct {
		pattern, line string
		want          bool
	}{
		{"ls *", "ls -l", true},
		{"ls *", "ls $X *.go", true},
		{"ls $X", "ls $X", true},
		{"git * status", "git $X status", true},
		{"/git [a-z$X]+ status/", "git $X status", false},
		{"/git [^;]* status/", "git $X status", false},
		{"ls ?", "ls $X", false},
		{"A=* ls", "A=$X ls", true},
		{"ls *", "A=1 ls x", false},
		{"ls *", "ls x > f", false},
		{"ls * > *", "ls x > $F", true},
		{"*", "trap 'rm x' EXIT", false},
		{"sudo *", "sudo rm x", true}, // who allows sudo allows what it runs
		{"sudo *", "sudo sh -c \"$X\"", false},
		{"echo 'x", "echo 'x", true},
		{"echo *", "echo 'x", false},
		{"echo *", "echo $(( 1 + n ))", true},
		{"echo *", "echo $(( $n ))", false},
	} {
		l := Split(c.line)
		got, command := l.Admits([]patterns.Pattern{pattern(t, c.pattern)})
		if got != c.want || !got && l.Err == nil && command == nil {
			t.Errorf("%s with %s: %v (%v)", c.line, c.pattern, got, command)
		}
	}
}

// What stands after a command does not hide it, and nothing that is undecided is
// admitted.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"ls", "echo 'x", "cat <<EOF\n", "f() {", "x{a,b}", "$'\\xff%d'", "sh -c 'sh -c \"ls\"'", "eval eval eval", "alias a=", "((1", "find . -exec", "a=(", "\\",
		"xargs -I", "su -", "env -S", "timeout", "git -c", "parallel ::: {}", "[[ -v", "${!x}", "${a:x:y}", "for A in", "sudo - -- -",
	} {
		f.Add(seed)
	}
	rm, any := pattern(f, "rm"), pattern(f, "*")
	f.Fuzz(func(t *testing.T, text string) {
		line := Split(text)
		if admitted, _ := line.Admits([]patterns.Pattern{any}); admitted && line.Err == nil {
			for i := range line.Commands {
				if line.Commands[i].Unclear != "" {
					t.Errorf("%q: admitted, and unclear", text)
				}
			}
		}
		if line.Err != nil {
			return
		}
		if got, _ := Split("rm x\n" + text).Compare(rm); got != Yes {
			t.Errorf("%q hides a command", text)
		}
	})
}
