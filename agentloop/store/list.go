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
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// Info is what a list tells of a session.
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

// List describes the sessions of a folder, the one used last first. It reads no
// more of each line than it tells. A file that is damaged is listed as such;
// only a folder that cannot be read is an error, and one that is not there has
// no sessions.
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

// describeAll reads several sessions side by side: some are large.
func describeAll(folder string, ids []string) []Info {
	described := make([]*Info, len(ids))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(len(ids), runtime.GOMAXPROCS(0), 4) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(ids)); i = next.Add(1) - 1 {
				if info, exists := describe(folder, ids[i]); exists {
					described[i] = &info
				}
			}
		})
	}
	readers.Wait()
	list := make([]Info, 0, len(ids))
	for _, info := range described {
		if info != nil {
			list = append(list, *info)
		}
	}
	return list
}

// IDs are the ids of a folder's sessions, in the order of their names.
func IDs(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sessions folder: %w", err)
	}
	var ids []string
	for _, e := range entries {
		id, isSession := strings.CutSuffix(e.Name(), extension)
		if isSession && e.Type().IsRegular() && checkID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// describe reads one session. It does not exist if it was removed meanwhile.
func describe(folder, id string) (info Info, exists bool) {
	info = Info{Header: Header{ID: id}, Path: filepath.Join(folder, id+extension)}
	stat, err := os.Stat(info.Path)
	if err != nil {
		return info, !errors.Is(err, os.ErrNotExist)
	}
	info.Last = stat.ModTime().UTC()
	info.Condition = Interrupted
	for line, err := range allLines(folder, id) {
		if err == nil {
			err = info.add(line)
		}
		if err != nil {
			info.Damage, info.Condition = fmt.Errorf("line %d: %w", line.number, err), Damaged
			info.Last = stat.ModTime().UTC() // what stands behind the damage is not read
			break
		}
	}
	if inUse(folder, id) {
		info.Condition = InUse
	}
	return info, true
}

// glance is what a list reads of an entry: of its messages, only how many.
type glance struct {
	Kind     Kind      `json:"kind"`
	Time     time.Time `json:"time"`
	Message  passed    `json:"message"`
	Messages passed    `json:"messages"`
	Text     string    `json:"text"`
	Turn     int       `json:"turn"`
}

// passed is a JSON value that is read over: what it is, and how many items a
// list has.
type passed struct {
	kind  jsontext.Kind
	items int
}

func (p *passed) UnmarshalJSONFrom(d *jsontext.Decoder) error {
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
	var g glance
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

// promptText is what a person wrote: the first text of a message, before what
// hooks put behind it.
func promptText(message protocol.Message) string {
	for _, part := range message.Content {
		if part.Type == protocol.PartText && part.Hook == "" {
			return part.Text
		}
	}
	return ""
}
