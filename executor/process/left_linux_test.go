package process

import (
	"testing"
	"time"
)

// What a program leaves running is ended, and named in the result, also where it
// holds no pipe.
func TestWhatIsLeftIsNamed(t *testing.T) {
	needs(t, "sleep", "setsid", "nohup")
	for _, options := range available(t) {
		t.Run(options.name(), func(t *testing.T) {
			rt := newRuntime(t, options)
			for _, c := range []struct {
				name, script, want string
				leaves             bool // the group
			}{
				{"nothing", "exit 3", "", false},
				{"a child that has ended", "true & wait; true", "", false},
				{"in the background", "sleep 61 >/dev/null 2>&1 & sleep 0.2", "1 process (sleep)", false},
				{"two of them", "sleep 61 >/dev/null 2>&1 & sleep 62 >/dev/null 2>&1 & sleep 0.2", "2 processes (sleep)", false},
				{"holding a pipe", "sleep 61 & sleep 0.2", "1 process (sleep)", false},
				{"nohup", "nohup sleep 61 >/dev/null 2>&1 & sleep 0.2", "1 process (sleep)", false},
				{"setsid", "setsid sleep 61 >/dev/null 2>&1 & sleep 0.2", "1 process (sleep)", true},
				{"daemon", "(setsid sh -c 'sleep 61 & wait' >/dev/null 2>&1 &); sleep 0.2", "2 processes (sh, sleep)", true},
			} {
				if c.leaves && options.Containment == Group {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					command := shell(c.script)
					mark := marked(command)
					r := rt.Run(within(t, 20*time.Second), command)
					if r.Err != nil || r.Left.String() != c.want {
						t.Errorf("%v, left %q, want %q", r.Err, r.Left, c.want)
					}
					mustEnd(t, r, 10*time.Second)
					if alive := survivors(mark); len(alive) > 0 {
						t.Errorf("alive: %v", alive)
					}
				})
			}
		})
	}
}

func TestNamesOfWhatIsLeft(t *testing.T) {
	for want, left := range map[string]Left{
		"":                       nil,
		"1 process (a?b)":        {cleanName("a\x1bb")},
		"3 processes (node, sh)": {"node", "node", "sh"},
		"7 processes (a, b, c, d, e, and 2 others)": {"a", "b", "c", "d", "e", "f", "g"},
	} {
		if got := left.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
