package loader

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is kept of a file says exactly what its first bytes say.
func TestWhatIsKeptTellsTheSame(t *testing.T) {
	parts := []string{"#!/bin/sh", "#!/usr/bin/env python3\r", "", "# hook: events=tool-call-start", "  // hook: can=block", "-- hook:", "x", "echo # hook: no",
		"\xef\xbb\xbf#!/bin/sh", "\xef\xbb\xbf# hook: can=observe", "# hook: \xff", "\x7fELF", "MZ", "REM hook: mode=audit", "#!", "# hook: timeout=\"1", "\x00"}
	random := rand.New(rand.NewPCG(1, 2))
	late, faulty := 0, 0
	for range 20_000 {
		var text []byte
		for range random.IntN(60) {
			text = append(text, parts[random.IntN(len(parts))]...)
			if random.IntN(20) > 0 {
				text = append(text, '\n')
			}
		}
		kept := telling(bytes.Clone(text))
		wantProgram, wantTrouble := readProgram(text)
		program, trouble := readProgram(kept)
		if program != wantProgram || !cmp.Equal(trouble, wantTrouble, cmp.AllowUnexported(*movingTrouble)) {
			t.Fatalf("%q is kept as %q: %v %v, want %v %v", text, kept, program, trouble, wantProgram, wantTrouble)
		}
		if program.binary {
			continue
		}
		for _, whole := range []bool{true, false} {
			want, got := parseHeader(text, whole), parseHeader(kept, whole)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(header{})); diff != "" {
				t.Fatalf("%q is kept as %q: %s", text, kept, diff)
			}
			if want.late > 0 {
				late++
			}
			faulty += len(want.faults)
		}
	}
	if late < 100 || faulty < 1000 {
		t.Errorf("%d late headers and %d faults: too few to say anything", late, faulty)
	}
	if long := telling(append([]byte("#!/bin/sh\n# hook: can=block\n"), bytes.Repeat([]byte("echo\n"), 1000)...)); len(long) > 40 {
		t.Errorf("of a long script %d bytes are kept", len(long))
	}
}
