package builtin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/instruction"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// InstructionOptions say what a model is told about where it works.
type InstructionOptions struct {
	// Files returns the files of instructions that may be used now. It is called at the
	// begin of each run of the main agent. nil: there are none.
	Files  func() []instruction.File
	Limit  int64            // bytes of the project's files together; 0: none is read
	Folder string           // the working folder
	Now    func() time.Time // nil: time.Now
}

// Instructions tells the model where it works, at the end of the system text: the folder, the
// system, the date, and what the files of instructions say (AGENTS.md).
//
// The text stays as it is for the session, so that a provider's cache finds it again: the date
// is that of the first run, and files are read again only when others may be used than
// before, because a person allowed them. Hooks see it in system at agent-start, where they are
// asked after this one, and can change it. Nothing is added in a recipe, whose text says what
// it needs.
func Instructions(options InstructionOptions) provider.Provider {
	if options.Files == nil {
		options.Files = func() []instruction.File { return nil }
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	s := &instructions{InstructionOptions: options, reported: map[string]bool{}}
	return provider.Provider{
		Name: "instructions",
		Hooks: []protocol.GoHook{{
			Name:        "instructions",
			Description: "tells the model the folder, the system, the date and the instructions of the project",
			Events:      []protocol.EventName{protocol.AgentStart},
			Func:        s.agentStart,
		}},
	}
}

type instructions struct {
	InstructionOptions

	mu       sync.Mutex
	block    string             // what the model is told, "" before the first run
	files    []instruction.File // that block has
	date     time.Time          // of the first run
	reported map[string]bool    // problems
}

func (s *instructions) agentStart(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	if ev.Recipe != nil {
		return protocol.Reply{}, nil
	}
	var data protocol.AgentStartData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	block, notices := s.current(!isNested(ev))
	reply := protocol.Reply{Action: protocol.Observe, Notice: strings.Join(notices, "\n")}
	if system := withContext(data.System, block); system != data.System {
		reply.Action, reply.Changes = protocol.Modify, object("system", system)
	}
	return reply, nil
}

// current returns what the model is told, and reports each file that is not used once. With
// refresh it looks whether other files may be used than before.
func (s *instructions) current(refresh bool) (block string, notices []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.block != "" && !refresh {
		return s.block, nil
	}
	files := s.Files()
	if s.block != "" && slices.Equal(files, s.files) {
		return s.block, nil
	}
	if s.date.IsZero() {
		s.date = s.Now()
	}
	texts, problems := instruction.Read(files, s.Limit)
	s.files, s.block = files, s.render(texts)
	for _, p := range problems {
		if said := p.Error(); !s.reported[said] {
			s.reported[said] = true
			notices = append(notices, said)
		}
	}
	return s.block, notices
}

// systems are names that are better known than those of Go.
var systems = map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows", "freebsd": "FreeBSD"}

// render returns what the model is told, between two marks that name it: no text can end the
// block early, since it would have to hold its own hash.
func (s *instructions) render(texts []instruction.Text) string {
	system := systems[runtime.GOOS]
	if system == "" {
		system = runtime.GOOS
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Working folder: %s\nOperating system: %s (%s)\nDate at the start of the session: %s\n",
		text.Line(s.Folder), system, runtime.GOARCH, s.date.Format("2006-01-02, Monday"))
	if len(texts) > 0 {
		b.WriteString("\nThe following instructions hold for all work here. Instructions from a folder hold for what lies in it. " +
			"Where two differ, those of the machine's administrator count first; of the others the later ones count. " +
			"What the user asks for in the conversation counts before those of the user and of the project.\n")
	}
	for _, t := range texts {
		fmt.Fprintf(&b, "\n[instructions of the %s, %s]\n%s\n", whose(t.Layer), text.Line(t.Origin), t.Text)
	}
	sum := sha256.Sum256([]byte(b.String()))
	revision := hex.EncodeToString(sum[:6])
	return contextBegins + revision + "]\n" + b.String() + contextEnds + revision + "]"
}

func whose(l protocol.Layer) string {
	if l == protocol.Managed {
		return "machine's administrator"
	}
	return string(l)
}

const (
	contextBegins = "[session context "
	contextEnds   = "[end of session context "
)

// withContext returns a system text with the block in the place of an older one, or at its
// end.
func withContext(system, block string) string {
	if start, end := contextIn(system); end > 0 {
		return system[:start] + block + system[end:]
	}
	if system = strings.TrimRight(system, "\n"); system == "" {
		return block
	}
	return system + "\n\n" + block
}

// contextIn finds a block in a system text, of this or an earlier run of the session: from
// the first line that begins one to the line that names the same revision and ends it.
func contextIn(system string) (start, end int) {
	at := 0
	for line := range strings.Lines(system) {
		revision, begins := strings.CutPrefix(strings.TrimRight(line, "\r\n"), contextBegins)
		if begins {
			ending := contextEnds + revision
			if i := strings.Index(system[at:], "\n"+ending); i >= 0 {
				return at, at + i + 1 + len(ending)
			}
		}
		at += len(line)
	}
	return 0, 0
}
