package loader

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// readings are what earlier processes read of a project's files, kept in the
// state folder: the hash of each, and the lines of it that describe the hook. The
// answers of programs lie beside them. They save a command that lives for one
// event the reading of every file.
//
// They can never let anything run that nobody allowed. What runs of a project
// is the private copy, found by the hash a person allowed and hashed itself in
// each process; a reading only tells whether the project's own file still has
// that hash. If it lies (a write that moved no time stamp), the hook that was
// allowed goes on guarding. Where the file itself would run because of its hash,
// and for all of the managed layer, readings are not asked: see filesOf.
//
// As git does with its index, a reading is only kept if the file's last change
// lay clearly before the reading began: a write within one tick of the file
// system's clock leaves the same stat. The change time is part of the stat, and
// no program can set it back.
type readings struct {
	file   string
	loaded bool
	known  kept // of earlier processes
	used   kept // what was asked for, and what is new
	news   bool // used holds what the file does not
	mu     sync.Mutex
}

// kept is what one file of readings holds.
type kept struct {
	files   map[string]reading // by path
	answers map[string]answer  // by the bundle's hash
}

func newKept(files, answers int) kept {
	return kept{make(map[string]reading, files), make(map[string]answer, answers)}
}

// written is kept as it is written down.
type written struct {
	Files   []reading `json:"files"`
	Answers []answer  `json:"answers"`
}

// reading is one file as it was read.
type reading struct {
	Path string   `json:"path"`
	Stat fileStat `json:"stat"`
	Sum  string   `json:"sha256"`
	Head []byte   `json:"head,omitzero"`
	Long bool     `json:"long,omitzero"`
}

const (
	readingsFolder  = "readings"
	restTime        = 2 * time.Second // the coarsest clock of a file system in use: FAT's
	maxReadings     = maxCandidates
	maxReadingsSize = 16 << 20
	maxReadingsHead = 2 << 10 // a longer one is read again
	maxReadingFiles = 256     // projects
)

func newReadings(state, project string) *readings {
	sum := sha256.Sum256([]byte(project))
	return &readings{
		file: filepath.Join(state, readingsFolder, hex.EncodeToString(sum[:16])),
		used: newKept(0, 0),
	}
}

// load reads the file, once.
func (r *readings) load() {
	if r.loaded {
		return
	}
	r.loaded = true
	var err error
	if r.known, err = readReadings(r.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Debug("what earlier processes read is of no use; the files are read again", "file", r.file, "cause", err)
	}
}

// find returns what a file held when its stat was the same.
func (r *readings) find(path string, st fileStat) (*content, bool) {
	if r == nil {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load()
	known, ok := r.known.files[path]
	if !ok || known.Stat != st {
		return nil, false
	}
	r.used.files[path] = known
	return &content{stat: st, sum: known.Sum, head: known.Head, long: known.Long}, true
}

// note takes in a reading that began at a moment.
func (r *readings) note(path string, c *content, began time.Time) {
	if r == nil || len(c.head) > maxReadingsHead {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.used.files) < maxReadings && max(c.stat.Mtime, c.stat.Ctime) < began.Add(-restTime).UnixNano() {
		r.used.files[path], r.news = reading{path, c.stat, c.sum, c.head, c.long}, true
	}
}

// answer returns what a program said to an earlier process. It is one of those
// that lie in the state folder file by file: a load of many hooks need not open
// every one.
func (r *readings) answer(hash string) (answer, bool) {
	if r == nil {
		return answer{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load()
	got, ok := r.known.answers[hash]
	if ok = ok && got.V == 1; ok {
		r.used.answers[hash] = got
	}
	return got, ok
}

// noteAnswer takes in an answer.
func (r *readings) noteAnswer(got answer) {
	if r == nil || len(got.Stdout)+len(got.Failed) > maxReadingsHead {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.used.answers) < maxReadings {
		r.used.answers[got.Hash], r.news = got, true
	}
}

// A file of readings is a line with the hash of the rest, and the rest. Nothing
// of it counts if a byte is wrong.
const readingsMark = "hookd readings 2 "

func readReadings(file string) (kept, error) {
	f, err := os.OpenFile(file, openFlags|noFollow, 0)
	if err != nil {
		return kept{}, err
	}
	defer f.Close()
	st, err := fstat(f)
	if err == nil {
		err = cmp.Or(wantRegular(file, st), checkPrivate(file, st))
	}
	if err != nil {
		return kept{}, err
	}
	raw, err := readSized(f, min(st.Size, maxReadingsSize))
	if err != nil {
		return kept{}, err
	}
	mark, body, _ := bytes.Cut(raw, []byte("\n"))
	if sum := sha256.Sum256(body); string(mark) != readingsMark+hex.EncodeToString(sum[:]) {
		return kept{}, errors.New("damaged, or of another version")
	}
	var all written
	if err := json.Unmarshal(body, &all); err != nil {
		return kept{}, err
	}
	known := newKept(len(all.Files), len(all.Answers))
	for _, one := range all.Files {
		known.files[one.Path] = one
	}
	for _, one := range all.Answers {
		known.answers[one.Hash] = one
	}
	return known, nil
}

// save writes what a load used, if that is news. Of two processes that write,
// the last one's file stands as a whole. A file that cannot be written costs
// the next process a reading, no more.
func (r *readings) save() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.news {
		return
	}
	r.news = false
	all := written{
		Files:   slices.SortedFunc(maps.Values(r.used.files), func(a, b reading) int { return cmp.Compare(a.Path, b.Path) }),
		Answers: slices.SortedFunc(maps.Values(r.used.answers), func(a, b answer) int { return cmp.Compare(a.Hash, b.Hash) }),
	}
	body, err := json.Marshal(all)
	if err == nil && len(body) < maxReadingsSize/2 {
		sum := sha256.Sum256(body)
		err = writeReadings(r.file, append([]byte(readingsMark+hex.EncodeToString(sum[:])+"\n"), body...))
	}
	if err != nil {
		slog.Debug("what was read could not be kept for the next process", "file", r.file, "cause", err)
	}
}

func writeReadings(file string, data []byte) error {
	dir := filepath.Dir(file)
	if err := privateFolder(dir); err != nil {
		return err
	}
	forgetOldest(dir)
	return writeSoon(file, data)
}

// writeSoon replaces a file that may be lost, mode 0600, without waiting for the
// disk. A crash of the system may leave it torn, so it must be written such that
// its reader notices.
func writeSoon(file string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(file), ".new-") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		os.Remove(temp.Name())
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}

// forgetOldest keeps the folder to its number of files, those of crashed writers
// included.
func forgetOldest(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < maxReadingFiles {
		return
	}
	written := func(e fs.DirEntry) int64 {
		st, _ := lstat(filepath.Join(dir, e.Name()))
		return st.Mtime
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(written(a), written(b)) })
	for _, old := range entries[:len(entries)-maxReadingFiles/2] {
		os.Remove(filepath.Join(dir, old.Name()))
	}
}
