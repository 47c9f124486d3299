package loader

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// content is how a file begins. Its stat and its head belong to one open file.
type content struct {
	stat fileStat
	head []byte // at most headLimit bytes
	long bool   // the file goes on after them
}

// maxFileSize bounds one file of a bundle.
const maxFileSize = 256 << 20

// readHead reads how a file begins. A file that is written meanwhile is an error.
func readHead(path string) (*content, error) {
	f, before, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := readSized(f, min(before.Size, headLimit))
	if err != nil {
		return nil, err
	}
	if after, err := fstat(f); err != nil || after.Size != before.Size || after.Mtime != before.Mtime || int64(len(head)) != min(before.Size, headLimit) {
		return nil, fmt.Errorf("%s: %w", path, errMoving)
	}
	return &content{stat: before, head: head, long: before.Size > int64(len(head))}, nil
}

// errNotHashed says that the files of something are large and nobody asks for
// their hash.
var errNotHashed = errors.New("its files are large and not hashed: nobody allowed it")

// unasked is how many bytes of what nobody allowed one load hashes.
const unasked = 64 << 20

var errMoving = fmt.Errorf("the file is being written")

// openRegular opens a regular file without ever blocking on a FIFO or touching
// a device that stands in its place. The flags see to it that opening one that
// was put there since has no effect.
func openRegular(path string) (*os.File, fileStat, error) {
	st, err := stat(path)
	if err != nil {
		return nil, st, err
	}
	if err := wantRegular(path, st); err != nil {
		return nil, st, err
	}
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, st, err
	}
	st, err = fstat(f)
	if err == nil {
		err = wantRegular(path, st)
	}
	if err != nil {
		f.Close()
		return nil, st, err
	}
	return f, st, nil
}

func wantRegular(path string, st fileStat) error {
	switch {
	case !st.Mode.IsRegular():
		return fmt.Errorf("%s: not a regular file", path)
	case st.Size > maxFileSize:
		return fmt.Errorf("%s: larger than %d MiB", path, maxFileSize>>20)
	}
	return nil
}

// readSized reads a file of which the size is known.
func readSized(f *os.File, size int64) ([]byte, error) {
	text := make([]byte, size)
	n, err := io.ReadFull(f, text)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil // it shrank meanwhile
	}
	return text[:n], err
}
