package chat

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// history is what was sent before.
type history struct {
	sent  []string
	kept  *historyFile // nil: nothing is kept
	at    int          // place in sent; len(sent) is the draft
	draft string       // what was being written when the person went back
}

func (h *history) add(text string) {
	if len(h.sent) == 0 || h.sent[len(h.sent)-1] != text {
		h.sent = append(h.sent, text)
	}
	h.at, h.draft = len(h.sent), ""
}

// move goes back or forth, from what is being written now, and returns what stands there.
func (h *history) move(step int, now string) string {
	to := h.at + step
	if to < 0 || to > len(h.sent) {
		return now
	}
	if h.at == len(h.sent) {
		h.draft = now
	}
	h.at = to
	if to == len(h.sent) {
		return h.draft
	}
	return h.sent[to]
}

// keep writes a line to the file of the history. A prompt is kept as hooks left it, and not
// before: what they took out of it, or refused, is in no file.
func (h *history) keep(text string) error {
	if h.kept == nil {
		return nil
	}
	return h.kept.add(text)
}

// Bounds of the history. A line that is longer is not kept.
const (
	longestKept = 8 << 10
	largestFile = 512 << 10
	mostSent    = 500
)

// historyFile is what was sent in all projects, a JSON object on each line, mode 0600. Two
// processes may write to it. The one that finds it too large halves it, and may lose what
// another wrote just then.
type historyFile struct{ path, project string }

type historyLine struct {
	Project string `json:"project"`
	Text    string `json:"text"`
}

// openHistory returns the history of a project, "" for what is sent outside of any.
func openHistory(stateDir, project string) history {
	f := &historyFile{filepath.Join(stateDir, "history.jsonl"), project}
	h := history{kept: f, sent: f.read()}
	h.at = len(h.sent)
	return h
}

// read returns what was sent in the project, the oldest first. What cannot be read is not
// there: half a line of a process that died, or another file in its place.
func (f *historyFile) read() (sent []string) {
	data, err := f.load()
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(data) {
		var l historyLine
		if json.Unmarshal(line, &l) != nil || l.Project != f.project || l.Text == "" {
			continue
		}
		if len(sent) == 0 || sent[len(sent)-1] != l.Text {
			sent = append(sent, l.Text)
		}
	}
	return sent[max(0, len(sent)-mostSent):]
}

func (f *historyFile) load() ([]byte, error) {
	if info, err := os.Lstat(f.path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, os.ErrInvalid)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 2*largestFile))
}

func (f *historyFile) add(text string) (err error) {
	if len(text) > longestKept {
		return nil
	}
	line, err := json.Marshal(historyLine{f.project, text})
	if err != nil { // no UTF-8
		return nil
	}
	info, err := os.Lstat(f.path)
	if err == nil && !info.Mode().IsRegular() {
		return errors.New(f.path + " is no regular file")
	}
	if err == nil && info.Size() > largestFile {
		if err := f.halve(); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// halve leaves the newer half.
func (f *historyFile) halve() error {
	data, err := f.load()
	if err != nil {
		return err
	}
	data = data[len(data)/2:]
	_, whole, _ := bytes.Cut(data, []byte("\n"))
	return fsutil.ReplaceFile(f.path, whole, fsutil.Unsynced)
}
