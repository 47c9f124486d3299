package fsutil

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrTooLarge says that a file has more bytes than it may have.
var ErrTooLarge = errors.New("the file is too large")

// NotRegularError says what stands in the place of a regular file.
type NotRegularError struct {
	Kind string // with its article: a folder, a named pipe
}

func (e *NotRegularError) Error() string { return "it is not a regular file but " + e.Kind }

// ReadRegular reads a regular file of at most limit bytes. It never waits, not even for the
// writer of a named pipe. The error is a [*NotRegularError], wraps [ErrTooLarge], or is that
// of the file system.
func ReadRegular(path string, limit int64) ([]byte, error) {
	return readRegular(os.OpenFile, path, limit)
}

// ReadRegularIn is [ReadRegular] below a folder, which no link leads out of.
func ReadRegularIn(folder *os.Root, name string, limit int64) ([]byte, error) {
	return readRegular(folder.OpenFile, name, limit)
}

// OpenRegular opens a regular file for reading, as [ReadRegular] does.
func OpenRegular(path string) (*os.File, error) { return openRegular(os.OpenFile, path) }

func openRegular(open func(string, int, fs.FileMode) (*os.File, error), name string) (*os.File, error) {
	file, err := open(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = CheckRegular(info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// CheckRegular returns a [*NotRegularError] for what is no regular file.
func CheckRegular(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &NotRegularError{kindOf(info.Mode())}
}

func readRegular(open func(string, int, fs.FileMode) (*os.File, error), name string, limit int64) ([]byte, error) {
	file, err := openRegular(open, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, limit)
	}
	return text, err
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// WithoutPath returns what an error of the file system says, without the path: for messages
// that name it already.
func WithoutPath(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
