package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// header is the part of a line that every kind of entry has.
type header struct {
	V       int       `json:"v"`
	Kind    Kind      `json:"kind"`
	N       int64     `json:"n"`    // counts the lines of a session, from 1
	Prev    *string   `json:"prev"` // hash of the line before without its newline, null in the first
	Torn    bool      `json:"torn,omitzero"`
	Lost    int64     `json:"lost,omitzero"`
	LostIDs []string  `json:"lostIds,omitzero"` // of the events of the first of them
	Time    time.Time `json:"time"`
	Session string    `json:"session"`
	Set     string    `json:"set"` // hash of the set of hooks that ruled
}

// headerSize is about what appendEntry puts in front of a body, in bytes.
const headerSize = 256

// appendEntry appends an entry as a line, with the header in front of its body, and
// returns where the chain ends after it. missing are the entries before it that no
// record holds.
func appendEntry(out []byte, e *pendingEntry, end chainEnd, missing missed) ([]byte, chainEnd) {
	begin := len(out)
	out = append(out, `{"v":1,"kind":"`...)
	out = append(out, e.kind...)
	out = append(out, `","n":`...)
	out = strconv.AppendInt(out, end.n+1, 10)
	out = append(out, `,"prev":`...)
	if end.hash == "" {
		out = append(out, "null"...)
	} else {
		out = append(out, '"')
		out = append(out, end.hash...)
		out = append(out, '"')
	}
	if end.torn {
		out = append(out, `,"torn":true`...)
	}
	if missing.Count > 0 {
		out = append(out, `,"lost":`...)
		out = strconv.AppendInt(out, missing.Count, 10)
		ids, _ := protocol.Marshal(missing.IDs) // a list of texts has a JSON form
		out = append(append(out, `,"lostIds":`...), ids...)
	}
	out = append(out, `,"time":"`...)
	out = e.at.UTC().AppendFormat(out, protocol.TimeFormat)
	out = append(out, `","session":`...)
	out, _ = jsontext.AppendQuote(out, e.session) // bad UTF-8 becomes U+FFFD
	out = append(out, ',')
	out = append(out, e.body[1:]...)
	next := chainEnd{n: end.n + 1, hash: hashOf(out[begin:]), set: end.set}
	if e.set != "" {
		next.set = e.set
	}
	return append(out, '\n'), next
}

// chainEnd is where a chain ends.
type chainEnd struct {
	n    int64  // number of the last whole line, 0 without one
	hash string // of the last line, a torn one included; "" without one
	set  string // hash of the set of hooks that ruled the last line, "" if it names none
	open bool   // the last line has no newline
	torn bool   // and is no whole line
}

// endOf finds the end of a record's chain. newest is its newest file, nil if there is
// none. Where that has no line yet, a process ended in the middle of a rotation, and the
// chain ends with the part before.
func endOf(dir, name string, newest io.ReaderAt, size int64) (chainEnd, error) {
	if newest != nil && size > 0 {
		return readEnd(newest, size)
	}
	parts := segments(dir, name)
	if len(parts) == 0 {
		return chainEnd{}, nil
	}
	part, err := os.Open(parts[len(parts)-1].path)
	if err != nil {
		return chainEnd{}, err
	}
	defer part.Close()
	info, err := part.Stat()
	if err != nil {
		return chainEnd{}, err
	}
	end, err := readEnd(part, info.Size())
	end.open = false // the next line begins a file
	return end, err
}

// readEnd finds the end of a chain by reading the file backwards.
func readEnd(r io.ReaderAt, size int64) (chainEnd, error) {
	last, rest, err := lastLine(r, size)
	if err != nil || last == nil {
		return chainEnd{}, err
	}
	t := chainEnd{hash: hashOf(last.text), open: last.open}
	h, err := parseHeader(last.text)
	if err == nil {
		t.n, t.set = h.N, h.Set
		return t, nil
	}
	// Not a whole line. Where it has no newline a crash cut it; where it has one
	// somebody changed the file. Either way the chain covers it, and the numbers
	// go on from the line before.
	t.torn = true
	for range maxBroken {
		last, rest, err = lastLine(r, rest)
		if err != nil || last == nil {
			return t, err
		}
		if h, err := parseHeader(last.text); err == nil {
			t.n = h.N
			return t, nil
		}
	}
	return t, nil // the chain begins anew, which a reader sees
}

// maxBroken is how many broken lines at the end of a file are read over in search of
// a whole one.
const maxBroken = 100

type rawLine struct {
	text []byte
	open bool
}

// lastLine returns the last line of the first size bytes, and where it begins.
func lastLine(r io.ReaderAt, size int64) (*rawLine, int64, error) {
	if size == 0 {
		return nil, 0, nil
	}
	for chunk := int64(16 << 10); ; chunk *= 4 {
		begin := max(0, size-min(chunk, maxLine))
		buf := make([]byte, size-begin)
		if _, err := r.ReadAt(buf, begin); err != nil && err != io.EOF {
			return nil, 0, err
		}
		open := buf[len(buf)-1] != '\n'
		if !open {
			buf = buf[:len(buf)-1]
		}
		for i := len(buf) - 1; i >= 0; i-- {
			if buf[i] == '\n' {
				return &rawLine{buf[i+1:], open}, begin + int64(i) + 1, nil
			}
		}
		if begin == 0 || chunk >= maxLine {
			return &rawLine{buf, open}, 0, nil // or its end: where it begins is not looked for
		}
	}
}

// pendingEntry is one entry before its place in the chain is known.
type pendingEntry struct {
	kind    Kind
	at      time.Time
	session string
	body    []byte // a JSON object
	event   string // id, "" if it is about none

	set      string // hash of the set that ruled it, "" if it is of no set
	describe func() *Set
}

func parseHeader(text []byte) (header, error) {
	var h header
	if len(text) == 0 || text[0] != '{' {
		return h, errors.New("not a JSON object")
	}
	if err := json.Unmarshal(text, &h, jsontext.AllowInvalidUTF8(true)); err != nil {
		return h, protocol.PlainError(err)
	}
	if h.V != formatVersion || h.N < 1 || h.Kind == "" {
		return h, fmt.Errorf("not a record of version %d", formatVersion)
	}
	return h, nil
}
