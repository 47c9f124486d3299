package trust

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
)

// PlanFile is one file of a hook, as it is and as it was allowed.
type PlanFile struct {
	Name          string
	Path          string
	Mode, WasMode fs.FileMode // 0 where there is none
	Sum, WasSum   string      // SHA-256, hex; "" where there is none
	Size          int64

	// Text and WasText are the contents, nil where there are none. Of a long file
	// they are its beginning and its end, with Left, WasLeft bytes left out between
	// the two, after the first ShownHead.
	Text, WasText []byte
	Left, WasLeft int64
}

// Changed reports whether the file differs from what was allowed.
func (f *PlanFile) Changed() bool { return f.Sum != f.WasSum || f.Mode != f.WasMode }

// readShown reads a file for showing, whatever it holds. What is shown must be what
// is hashed. left is how many bytes in the middle of a long one are left out.
func readShown(m bundle.Member) (text []byte, left int64, err error) {
	ends := &bothEnds{}
	h, err := files.ReadWhole(context.Background(), m.Path, ends)
	if err != nil {
		return nil, 0, err
	}
	if h.Sum != m.Sum {
		return nil, 0, fmt.Errorf("%s: %w", m.Path, ErrChangedSince)
	}
	return append(append([]byte{}, ends.head...), ends.tail...), ends.left, nil
}

// bothEnds keeps the beginning and the end of what is written to it.
type bothEnds struct {
	head, tail []byte
	left       int64
}

func (b *bothEnds) Write(p []byte) (int, error) {
	n := min(len(p), ShownHead-len(b.head))
	b.head = append(b.head, p[:n]...)
	b.tail = append(b.tail, p[n:]...)
	if over := len(b.tail) - shownTail; over > 0 {
		b.left += int64(over)
		b.tail = append(b.tail[:0], b.tail[over:]...)
	}
	return len(p), nil
}

// How much of a file a plan holds for showing: of one that is longer, what stands at
// its beginning and at its end.
const (
	ShownHead = 192 << 10
	shownTail = 64 << 10
)
