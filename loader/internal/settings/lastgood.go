package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
)

// LastGood keeps the last settings of each layer that could be read, so that a
// command which lives for one event has something to go by when it meets a
// half-written file. Trust is not kept: it is decided anew each time.
type LastGood struct {
	dir   string                               // "" keeps nothing on disk
	write func(path string, data []byte) error // replaces a file of this user's alone, its folder made where it is missing

	mu       sync.Mutex
	inMemory map[string]goodText // by layer and project
}

// NewLastGood returns a store in a folder. With "" it keeps settings in memory
// only. write replaces a file that only this user can read.
func NewLastGood(dir string, write func(path string, data []byte) error) *LastGood {
	return &LastGood{dir: dir, write: write, inMemory: map[string]goodText{}}
}

// goodText is the text of a settings file that could be read.
type goodText struct {
	V    int    `json:"v"`
	File string `json:"file"`
	Text string `json:"text"`
}

// Keep remembers settings that could be read. project is "" for the layers that
// are no project's.
func (g *LastGood) Keep(project string, f File) {
	layer, now := f.Settings.Layer, goodText{1, f.Path, string(f.Text)}
	key := string(layer) + project
	g.mu.Lock()
	same := g.inMemory[key] == now
	g.inMemory[key] = now
	g.mu.Unlock()
	if same || !g.onDisk(layer) {
		return
	}
	if before, ok := g.read(project, layer); ok && before == now {
		return
	}
	if raw, err := json.Marshal(now); err == nil {
		// Without it a half-written file refuses the gates for a moment.
		_ = g.write(g.file(project, layer), raw)
	}
}

// Settings returns the last good settings of a layer; ok is false if there are none.
func (g *LastGood) Settings(project string, layer protocol.Layer) (File, bool) {
	g.mu.Lock()
	good, ok := g.inMemory[string(layer)+project]
	g.mu.Unlock()
	if !ok && g.onDisk(layer) {
		good, ok = g.read(project, layer)
	}
	if !ok {
		return File{}, false
	}
	f := File{Path: good.File, Text: []byte(good.Text)}
	var err error
	f.Settings, f.Findings, err = Decode(good.File, f.Text, layer)
	return f, err == nil
}

// onDisk says which layers' settings are kept on disk. The managed layer's are
// not: the user could write what counts in place of root's.
func (g *LastGood) onDisk(layer protocol.Layer) bool {
	return g.dir != "" && layer != protocol.Managed
}

func (g *LastGood) file(project string, layer protocol.Layer) string {
	if layer != protocol.Project {
		project = ""
	}
	sum := sha256.Sum256([]byte(string(layer) + "\x00" + project))
	return filepath.Join(g.dir, hex.EncodeToString(sum[:16])+".json")
}

func (g *LastGood) read(project string, layer protocol.Layer) (goodText, bool) {
	var good goodText
	raw, err := os.ReadFile(g.file(project, layer))
	ok := err == nil && json.Unmarshal(raw, &good) == nil && good.V == 1
	return good, ok
}
