package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"github.com/hookd-dev/hookd/protocol"
)

// Condition is what has become of a session.
type Condition string

const (
	InUse       Condition = "open"        // a process has it open
	Ended       Condition = "closed"      // its last process closed it
	Interrupted Condition = "interrupted" // its last process died with it open; it can be resumed
	Damaged     Condition = "damaged"     // its file cannot be read; see Info.Damage
)

// Info describes a session in a list.
type Info struct {
	Header
	Path      string
	First     string    // text of the first prompt, "" without one
	Last      time.Time // of the last entry; of the file if that is damaged
	Messages  int       // in the conversation as it stands
	Turns     int       // prompts of the user
	Condition Condition
	Damage    error // of a damaged file: what is wrong, with its line
}

// List describes the sessions of a folder, the one used last first. It decodes no more of
// each line than it returns. A damaged file is listed as such; the error says that the
// folder cannot be read. A folder that does not exist has no sessions.
func List(folder string) ([]Info, error) {
	ids, err := IDs(folder)
	if err != nil {
		return nil, err
	}
	list := describeAll(folder, ids)
	slices.SortStableFunc(list, func(a, b Info) int {
		return cmp.Or(b.Last.Compare(a.Last), strings.Compare(b.ID, a.ID))
	})
	return list, nil
}

// describeAll reads several sessions at the same time: some are large.
func describeAll(folder string, ids []string) []Info {
	described := make([]*Info, len(ids))
	var readers errgroup.Group
	readers.SetLimit(min(runtime.GOMAXPROCS(0), 4))
	for i, id := range ids {
		readers.Go(func() error {
			if info, exists := describe(folder, id); exists {
				described[i] = &info
			}
			return nil
		})
	}
	_ = readers.Wait() // no session fails as a whole
	list := make([]Info, 0, len(ids))
	for _, info := range described {
		if info != nil {
			list = append(list, *info)
		}
	}
	return list
}

// describe reads one session. It does not exist if it was removed since.
func describe(folder, id string) (info Info, exists bool) {
	info = Info{Header: Header{ID: id}, Path: filepath.Join(folder, id+extension)}
	stat, err := os.Stat(info.Path)
	if err != nil {
		return info, !errors.Is(err, os.ErrNotExist)
	}
	info.Last = stat.ModTime().UTC()
	info.Condition = Interrupted
	for line, err := range fileLines(folder, id) {
		if err == nil {
			err = info.add(line)
		}
		if err != nil {
			info.Damage, info.Condition = fmt.Errorf("line %d: %w", line.number, err), Damaged
			info.Last = stat.ModTime().UTC() // what follows the damage is not read
			break
		}
	}
	if inUse(folder, id) {
		info.Condition = InUse
	}
	return info, true
}

// listedEntry is what a list reads of an entry: of its messages, only how many.
type listedEntry struct {
	Kind     Kind         `json:"kind"`
	Time     time.Time    `json:"time"`
	Message  skippedValue `json:"message"`
	Messages skippedValue `json:"messages"`
	Text     string       `json:"text"`
	Turn     int          `json:"turn"`
}

// skippedValue is a JSON value that is not decoded: what it is, and how many items a list
// has.
type skippedValue struct {
	kind  jsontext.Kind
	items int
}

func (p *skippedValue) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	p.kind = d.PeekKind()
	if p.kind != '[' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if err := d.SkipValue(); err != nil {
			return err
		}
		p.items++
	}
	_, err := d.ReadToken()
	return err
}

func (info *Info) add(l line) error {
	if l.number == 1 {
		header, err := decodeHeader(l.text, info.ID)
		if err == nil {
			info.Header, info.Last = header, header.Created
		}
		return err
	}
	var g listedEntry
	if err := json.Unmarshal(l.text, &g, decodeOptions); err != nil {
		return err
	}
	if !g.Time.IsZero() {
		info.Last = g.Time
	}
	info.Condition = Interrupted
	switch g.Kind {
	case Message:
		if g.Message.kind == '{' {
			info.Messages++
		}
	case Conversation:
		info.Messages = g.Messages.items
	case Model:
		info.Model = g.Text
	case Closed:
		info.Condition = Ended
	}
	info.Turns = max(info.Turns, g.Turn)
	if info.First == "" && g.Turn > 0 && g.Message.kind == '{' {
		var prompt struct {
			Message protocol.Message `json:"message"`
		}
		if err := json.Unmarshal(l.text, &prompt, decodeOptions); err != nil {
			return err
		}
		info.First = promptText(prompt.Message)
	}
	return nil
}
