package rpc_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/creachadair/jrpc2/channel"
	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

var _ channel.Channel = (*rpc.Conn)(nil)

// readAll returns every line, and for a skipped one its size as "!SIZE".
func readAll(t *testing.T, r *rpc.Reader) (lines []string) {
	t.Helper()
	for {
		line, err := r.Next()
		var long *rpc.TooLongError
		switch {
		case err == nil:
			lines = append(lines, string(line))
		case errors.As(err, &long):
			lines = append(lines, long.Error())
		case err == io.EOF:
			if _, again := r.Next(); again != io.EOF {
				t.Errorf("after the end: %v", again)
			}
			return lines
		default:
			t.Fatal(err)
		}
	}
}

func TestReader(t *testing.T) {
	const limit = 10
	long := func(n int) string { return (&rpc.TooLongError{Size: int64(n), Limit: limit}).Error() }
	tests := []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"lines", "a\nb\n", []string{"a", "b"}},
		{"last line without newline", "a\n{\"b\":", []string{"a", `{"b":`}},
		{"blank lines", "\n \t\r\na\n\n\nb\n\n", []string{"a", "b"}},
		{"carriage return stays", "a\r\n", []string{"a\r"}},
		{"exactly the limit", "0123456789\nb\n", []string{"0123456789", "b"}},
		{"one over", "0123456789x\nb\n", []string{long(11), "b"}},
		{"over, then over, then good", strings.Repeat("x", 500_000) + "\n" + strings.Repeat("y", 70_000) + "\nok\n",
			[]string{long(500_000), long(70_000), "ok"}},
		{"over at the end, no newline", "a\n" + strings.Repeat("x", 200_000), []string{"a", long(200_000)}},
		{"over just at a buffer's end", strings.Repeat("x", 64<<10) + "\nok\n", []string{long(64 << 10), "ok"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, wrap := range map[string]func(io.Reader) io.Reader{
				"whole":         func(r io.Reader) io.Reader { return r },
				"bytes":         iotest.OneByteReader,
				"half":          iotest.HalfReader,
				"data with EOF": iotest.DataErrReader,
			} {
				got := readAll(t, rpc.NewReader(wrap(strings.NewReader(tt.in)), limit))
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
		})
	}
}

// H26: a line of 16 MiB is read, and so is a small one after it; one over the
// limit is an error for that line only.
func TestReaderLargeLines(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 16<<20)
	tooLarge := bytes.Repeat([]byte("y"), rpc.DefaultLimit+1)
	in := io.MultiReader(
		bytes.NewReader(large), strings.NewReader("\nsmall\n"),
		bytes.NewReader(tooLarge), strings.NewReader("\nnext\n"))
	r := rpc.NewReader(in, 0)
	line, err := r.Next()
	if err != nil || !bytes.Equal(line, large) {
		t.Fatalf("16 MiB: %d bytes, %v", len(line), err)
	}
	if line, err = r.Next(); string(line) != "small" || err != nil {
		t.Fatalf("after it: %q, %v", line, err)
	}
	var long *rpc.TooLongError
	if _, err = r.Next(); !errors.As(err, &long) || long.Size != rpc.DefaultLimit+1 {
		t.Fatalf("over the limit: %v", err)
	}
	if line, err = r.Next(); string(line) != "next" || err != nil {
		t.Fatalf("after that: %q, %v", line, err)
	}
}

// A line that hardly ends is not kept.
func TestReaderSkipsWithoutKeeping(t *testing.T) {
	const size = 256 << 20
	var before, after runtime.MemStats
	r := rpc.NewReader(io.LimitReader(endless{}, size), 1<<20)
	runtime.ReadMemStats(&before)
	_, err := r.Next()
	runtime.ReadMemStats(&after)
	var long *rpc.TooLongError
	if !errors.As(err, &long) || long.Size != size {
		t.Fatalf("got %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("skipping %d bytes allocated %d", size, n)
	}
}

func TestWriter(t *testing.T) {
	var buf bytes.Buffer
	w := rpc.NewWriter(&buf)
	if err := w.Write([]byte("a\nb")); err != rpc.ErrNewline {
		t.Errorf("newline inside: %v", err)
	}
	for _, line := range []string{"one", "two"} {
		if err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if got := buf.String(); got != "one\ntwo\n" {
		t.Errorf("got %q", got)
	}
}

// Each message is one write, and after a failed one nothing more is written:
// it would be taken for the rest of the torn line.
func TestWriterStopsAfterAnError(t *testing.T) {
	broken := errors.New("broken")
	out := &tearing{after: 1, err: broken}
	w := rpc.NewWriter(out)
	if err := w.Write([]byte("whole")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Write([]byte("torn")); err != broken {
			t.Errorf("got %v", err)
		}
	}
	if d := cmp.Diff([]string{"whole\n", "torn\n"}, out.writes); d != "" {
		t.Errorf("writes (-want +got):\n%s", d)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

type tearing struct {
	after  int
	err    error
	writes []string
}

func (w *tearing) Write(p []byte) (int, error) {
	w.writes = append(w.writes, string(p))
	if len(w.writes) > w.after {
		return 1, w.err
	}
	return len(p), nil
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\n"), 4)
	f.Add([]byte("aaaaaaaaaaaaa\n\n\nb"), 4)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		if limit <= 0 || limit > 1<<20 {
			return
		}
		var want []string
		for _, line := range strings.Split(string(in), "\n") {
			switch {
			case len(line) > limit:
				want = append(want, (&rpc.TooLongError{Size: int64(len(line)), Limit: int64(limit)}).Error())
			case len(bytes.TrimSpace([]byte(line))) > 0:
				want = append(want, line)
			}
		}
		got := readAll(t, rpc.NewReader(iotest.HalfReader(bytes.NewReader(in)), int64(limit)))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}
