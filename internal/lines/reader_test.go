package lines

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

func TestNext(t *testing.T) {
	const limit = 5
	long := strings.Repeat("x", 3*bufferSize)
	for name, c := range map[string]struct {
		in   string
		want []string // "!N" for a line of N bytes that was skipped; "~" for a missing newline
	}{
		"nothing":           {"", nil},
		"lines":             {"a\nbc\n", []string{"a", "bc"}},
		"empty lines":       {"\n\na\n", []string{"", "", "a"}},
		"no last newline":   {"a\nb", []string{"a", "b~"}},
		"exactly the limit": {"12345\n", []string{"12345"}},
		"one over":          {"123456\na\n", []string{"!6", "a"}},
		"over many buffers": {long + "\na\n", []string{"!196608", "a"}},
		"over and cut":      {"a\n" + long, []string{"a", "!196608"}},
		"carriage return":   {"a\r\n", []string{"a\r"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, reuse := range []bool{false, true} {
				for _, in := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
					got := readAll(t, NewReader(in, Options{Limit: limit, Reuse: reuse}))
					if strings.Join(got, "|") != strings.Join(c.want, "|") {
						t.Errorf("reuse %v: %q, want %q", reuse, got, c.want)
					}
				}
			}
		})
	}
}

func readAll(t *testing.T, r *Reader) (got []string) {
	for {
		line, ended, err := r.Next()
		long := new(TooLongError)
		switch {
		case errors.As(err, &long):
			if len(long.Start) == 0 || int64(len(long.Start)) > min(long.Size, 256) {
				t.Errorf("%d bytes are the start of a line of %d", len(long.Start), long.Size)
			}
			got = append(got, "!"+strconv.FormatInt(long.Size, 10))
		case err == io.EOF:
			return got
		case err != nil:
			t.Fatal(err)
		case ended:
			got = append(got, string(line))
		default:
			got = append(got, string(line)+"~")
		}
	}
}

// TestBrokenStream asserts that the underlying error comes out, with what was cut off.
func TestBrokenStream(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\nbc"), iotest.ErrReader(broken)), Options{})
	if line, ended, err := r.Next(); string(line) != "a" || !ended || err != nil {
		t.Fatalf("%q %v %v", line, ended, err)
	}
	if line, ended, err := r.Next(); string(line) != "bc" || ended || err != broken {
		t.Fatalf("%q %v %v", line, ended, err)
	}
}

// TestOwnership asserts that a line stays as it is unless Reuse is asked for.
func TestOwnership(t *testing.T) {
	in := strings.Repeat("a", 1000) + "\n" + strings.Repeat("b", 1000) + "\n"
	r := NewReader(strings.NewReader(in), Options{})
	first, _, _ := r.Next()
	r.Next()
	if !bytes.Equal(first, bytes.Repeat([]byte("a"), 1000)) {
		t.Error("the first line changed")
	}
}

// TestRelease asserts that a reader that has ended leaves its memory and none of its text to
// the next one.
func TestRelease(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		r := NewReader(strings.NewReader("a\nrest that nobody reads"), Options{})
		if line, _, err := r.Next(); string(line) != "a" || err != nil {
			t.Fatalf("%q %v", line, err)
		}
		r.Release()
		r.Release()
		if line, _, err := r.Next(); line != nil || err != io.EOF {
			t.Fatalf("%q %v", line, err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 50*bufferSize { // the race detector has a pool forget some
		t.Errorf("100 readers took %d bytes", used)
	}
}

func FuzzNext(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccccccccccccc\nd"))
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 8
		var got [][]byte
		for r := NewReader(iotest.HalfReader(bytes.NewReader(text)), Options{Limit: limit}); ; {
			line, _, err := r.Next()
			if err == io.EOF {
				break
			}
			if long := new(TooLongError); errors.As(err, &long) {
				line = nil
			}
			got = append(got, line)
		}
		want := bytes.Split(text, []byte("\n"))
		if last := len(want) - 1; len(want[last]) == 0 {
			want = want[:last]
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		for i := range want {
			if len(want[i]) <= limit && !bytes.Equal(got[i], want[i]) {
				t.Errorf("line %d is %q, want %q", i, got[i], want[i])
			}
		}
	})
}
