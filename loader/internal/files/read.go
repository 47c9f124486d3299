package files

import (
	"fmt"
	"io"
	"os"
)

// Head is how a file begins. Its stat and its bytes belong to one open file.
type Head struct {
	Stat  Info
	Bytes []byte // at most HeadLimit bytes
	Long  bool   // the file goes on after them
}

// maxFileSize bounds one file of a bundle.
const maxFileSize = 256 << 20

// HeadLimit bounds the head of a file, in bytes.
const HeadLimit = 8 << 10

// ReadHead reads how a file begins. A file that is written meanwhile is an error.
func ReadHead(path string) (*Head, error) {
	f, before, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := ReadSized(f, min(before.Size, HeadLimit))
	if err != nil {
		return nil, err
	}
	if after, err := Fstat(f); err != nil || after.Size != before.Size || after.Mtime != before.Mtime || after.Ctime != before.Ctime || int64(len(head)) != min(before.Size, HeadLimit) {
		return nil, fmt.Errorf("%s: %w", path, ErrBeingWritten)
	}
	return &Head{Stat: before, Bytes: head, Long: before.Size > int64(len(head))}, nil
}

// ErrBeingWritten says that a file changed while it was read.
var ErrBeingWritten = fmt.Errorf("the file is being written")

// OpenRegular opens a regular file without ever blocking on a FIFO or touching
// a device that stands in its place. The flags see to it that opening one that
// was put there since has no effect.
func OpenRegular(path string) (*os.File, Info, error) {
	st, err := Stat(path)
	if err != nil {
		return nil, st, err
	}
	if err := wantRegular(path, st); err != nil {
		return nil, st, err
	}
	f, err := os.OpenFile(path, OpenFlags, 0)
	if err != nil {
		return nil, st, err
	}
	st, err = Fstat(f)
	if err == nil {
		err = wantRegular(path, st)
	}
	if err != nil {
		f.Close()
		return nil, st, err
	}
	return f, st, nil
}

func wantRegular(path string, st Info) error {
	switch {
	case !st.Mode.IsRegular():
		return fmt.Errorf("%s: not a regular file", path)
	case st.Size > maxFileSize:
		return fmt.Errorf("%s: larger than %d MiB", path, maxFileSize>>20)
	}
	return nil
}

// ReadSized reads a file of which the size is known.
func ReadSized(f *os.File, size int64) ([]byte, error) {
	text := make([]byte, size)
	n, err := io.ReadFull(f, text)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil // it shrank meanwhile
	}
	return text[:n], err
}

// ReadSmall reads a regular file of bounded size.
func ReadSmall(path string, limit int64) ([]byte, error) {
	f, st, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Size > limit {
		return nil, fmt.Errorf("larger than %d KiB", limit>>10)
	}
	text := make([]byte, st.Size)
	n, err := f.ReadAt(text, 0)
	if err != nil && n < len(text) {
		return nil, err
	}
	return text, nil
}

// IsRegular reports whether a path leads to a regular file.
func IsRegular(path string) bool {
	st, err := Stat(path)
	return err == nil && st.Mode.IsRegular()
}
