package acpterminal

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// A frame is its kind, the length of what follows, and that.
const (
	frameOutput byte = 'o' // bytes for the terminal
	frameEnd    byte = 'e' // an [ending], the last frame
)

const (
	frameHeader = 1 + 4
	mostInFrame = 64 << 10
)

// ending is how a command ended.
type ending struct {
	Exit int    `json:"exit"` // the terminal's exit code
	Note string `json:"note"` // what a person should read of it, "" for nothing
}

// appendFrame adds a frame of at most mostInFrame bytes.
func appendFrame(to []byte, kind byte, content []byte) []byte {
	return append(binary.BigEndian.AppendUint32(append(to, kind), uint32(len(content))), content...)
}

// readFrame reads a frame into room, which has mostInFrame bytes.
func readFrame(r io.Reader, room []byte) (kind byte, content []byte, err error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(header[1:])
	if size > uint32(len(room)) {
		return 0, nil, fmt.Errorf("a frame of %d bytes; it may have %d", size, len(room))
	}
	content = room[:size]
	_, err = io.ReadFull(r, content)
	return header[0], content, err
}

func readEnding(content []byte) (e ending, err error) {
	err = json.Unmarshal(content, &e)
	return e, err
}
