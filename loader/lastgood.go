package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/protocol"
)

// lastGood keeps the last settings of each layer that could be read, so that a
// command which lives for one event has something to go by when it meets a
// half-written file. Trust is not kept: it is decided anew each time.
type lastGood struct{ dir string }

// goodSettings is the text of a settings file that could be read.
type goodSettings struct {
	V    int    `json:"v"`
	File string `json:"file"`
	Text string `json:"text"`
}

func (g lastGood) file(project string, layer protocol.Layer) string {
	if layer != protocol.Project {
		project = ""
	}
	sum := sha256.Sum256([]byte(string(layer) + "\x00" + project))
	return filepath.Join(g.dir, hex.EncodeToString(sum[:16])+".json")
}

func (g lastGood) read(project string, layer protocol.Layer) (goodSettings, bool) {
	var good goodSettings
	raw, err := os.ReadFile(g.file(project, layer))
	ok := err == nil && json.Unmarshal(raw, &good) == nil && good.V == 1
	return good, ok
}

// keepGood remembers settings that could be read, in memory and on disk.
func (p *load) keepGood(s *scope, file string, text []byte) {
	layer := s.layer
	p.mu.Lock()
	if p.inMemory == nil {
		p.inMemory = map[string]goodSettings{}
	}
	now := goodSettings{1, file, string(text)}
	key := string(layer) + s.project
	same := p.inMemory[key] == now
	p.inMemory[key] = now
	p.mu.Unlock()
	if same || !p.onDisk(layer) {
		return
	}
	if before, ok := p.good.read(s.project, layer); ok && before == now {
		return
	}
	if files.PrivateFolder(p.good.dir) != nil {
		return
	}
	if raw, err := json.Marshal(now); err == nil {
		// Without it a half-written file refuses the gates for a moment.
		_ = files.WritePrivate(p.good.file(s.project, layer), raw)
	}
}

func (p *load) lastGood(s *scope) (file string, text []byte, ok bool) {
	layer := s.layer
	p.mu.Lock()
	good, ok := p.inMemory[string(layer)+s.project]
	p.mu.Unlock()
	if !ok && p.onDisk(layer) {
		good, ok = p.good.read(s.project, layer)
	}
	return good.File, []byte(good.Text), ok
}

// onDisk says which layers' settings are kept on disk. The managed layer's are
// not: the user could write what stands in for root's.
func (p *load) onDisk(layer protocol.Layer) bool {
	return p.good.dir != "" && layer != protocol.Managed
}
