package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// Codex runs no hook before the person has trusted it. It keeps what was trusted in
// [hooks.state] of its own settings: for each hook a key, which says where the hook stands,
// and the hash of its definition. The forms of both are those of Codex 0.171, which names
// them in its answer to hooks/list; a test has its very hashes.

const (
	codexRemedy  = "start codex, enter /hooks and trust those of hookd"
	noHashAgrees = "no hash is theirs"
)

// untrustedHooks finds hooks of ours that Codex does not run: it was not told to trust
// them, or what it was told to trust is another form of them.
func untrustedHooks(s *subject) (found []finding) {
	if s.installed.Scope == install.Managed || len(s.installed.Entries) == 0 {
		return nil
	}
	settings := s.homePath("CODEX_HOME", ".codex", "config.toml")
	t := trustOfCodex{s: s, state: parse(settings).Find(configtext.Names("hooks", "state"))}
	t.read()
	file := s.installed.File
	switch {
	case len(t.off) > 0:
		found = append(found, s.fault(settings, t.off[0].Line, "start codex, enter /hooks and switch those of hookd on", "%d hooks of %s are switched off in Codex", len(t.off), file))
	case len(t.hooks) == len(t.without):
		found = append(found, s.fault(settings, 0, codexRemedy, "Codex was not told to trust the hooks in %s, so that it does not run them", file))
	case len(t.without) > 0:
		found = append(found, s.fault(settings, 0, codexRemedy, "Codex was not told to trust %d of the %d hooks of hookd in %s: it does not run %s", len(t.without), len(t.hooks), file, strings.Join(t.without, ", ")))
	}
	switch {
	case len(t.changed) == 0:
	case t.agreed > 0:
		found = append(found, s.fault(file, t.line, codexRemedy, "Codex trusts another form of hookd's hooks for %s: their entries were changed after it was told to, so that it does not run them", strings.Join(t.changed, ", ")))
	default: // perhaps this Codex hashes in another way: a proof can tell
		found = append(found, s.doubtful(file, t.line, codexRemedy, "what Codex was told to trust are other hooks than those in %s: "+noHashAgrees, file))
	}
	return found
}

// trustOfCodex is what Codex was told of our hooks in one file.
type trustOfCodex struct {
	s     *subject
	state *configtext.Node // by key

	hooks   []string           // the events of all of ours
	without []string           // of those that Codex knows nothing of
	changed []string           // of those of which it knows another hash
	line    int                // of the first changed one
	off     []*configtext.Node // switches
	agreed  int
}

// read compares every hook of ours.
func (t *trustOfCodex) read() {
	root := parse(t.s.installed.File)
	hooks := root.Get("hooks")
	if hooks == nil {
		return
	}
	for _, event := range hooks.Members {
		for group, g := range event.Value.Items {
			handlers := g.Get("hooks")
			for number := 0; handlers != nil && number < len(handlers.Items); number++ {
				h := handlers.Items[number]
				if _, ours := install.ParseCommand(textOf(h.Get("command"))); ours {
					t.compare(codexHook{event.Name, group, number, textNode(g.Get("matcher")), h})
				}
			}
		}
	}
}

func (t *trustOfCodex) compare(h codexHook) {
	t.hooks = append(t.hooks, h.event)
	var known *configtext.Node
	for _, file := range namesOfFile(t.s.installed.File) {
		if known = t.state.Get(h.key(file)); known != nil {
			break
		}
	}
	hash := textOf(known.Get("trusted_hash"))
	switch {
	case isUnset(known.Get("enabled")):
		t.off = append(t.off, known.Get("enabled"))
	case hash == "":
		t.without = append(t.without, h.event)
	case hash == h.hash(t.s.verifier.Installer.Places.OS):
		t.agreed++
	default:
		if len(t.changed) == 0 {
			t.line = h.handler.Line
		}
		t.changed = append(t.changed, h.event)
	}
}

// namesOfFile are the names by which Codex may know a file: with the links on the way or
// without them.
func namesOfFile(path string) []string {
	names := []string{path}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		names = append(names, filepath.Join(dir, filepath.Base(path)))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, real)
	}
	return names
}

// codexHook is one hook as it stands in a file of Codex.
type codexHook struct {
	event   string // as the file has it
	group   int
	number  int
	matcher *string
	handler *configtext.Node
}

// label is the event as keys and hashes have it.
func (h *codexHook) label() string {
	var out strings.Builder
	for i, c := range h.event {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				out.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		out.WriteRune(c)
	}
	return out.String()
}

func (h *codexHook) key(file string) string {
	return file + ":" + h.label() + ":" + strconv.Itoa(h.group) + ":" + strconv.Itoa(h.number)
}

// Events of Codex at which it takes no matcher, and those that it gives little time.
var (
	withoutMatcher = []string{"pre_model_request", "user_prompt_submit", "stop", "interrupt"}
	shortEvents    = []string{"session_end", "interrupt"}
)

// Codex's time-outs, in seconds: without one in the file, and the most at a short event.
const (
	codexDefault      = 600
	codexDefaultShort = 1
	codexMostShort    = 3
)

// hash returns the hash of what the hook is to Codex, after it has filled in what the file
// leaves out.
func (h *codexHook) hash(os string) string {
	label := h.label()
	handler := map[string]any{"type": "command", "command": textOf(h.handler.Get("command")), "async": isSet(h.handler.Get("async"))}
	if other := textOf(h.handler.Get("commandWindows")); other != "" && os == "windows" {
		handler["command"] = other
	}
	handler["timeout"] = h.timeout(label)
	if message := textNode(h.handler.Get("statusMessage")); message != nil {
		handler["statusMessage"] = *message
	}
	if most, ok := wholeNumber(h.handler.Get("additionalContextLimit")); ok {
		handler["additionalContextLimit"] = most
	}
	identity := map[string]any{"event_name": label, "hooks": []any{handler}}
	if h.matcher != nil && !slices.Contains(withoutMatcher, label) {
		identity["matcher"] = *h.matcher
	}
	text, err := json.Marshal(identity, json.Deterministic(true))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// timeout returns the time-out that Codex gives the hook, in seconds.
func (h *codexHook) timeout(label string) uint64 {
	short := slices.Contains(shortEvents, label)
	seconds, stated := wholeNumber(h.handler.Get("timeout"))
	switch {
	case !stated && short:
		return codexDefaultShort
	case !stated:
		return codexDefault
	case short:
		seconds = min(seconds, codexMostShort)
	}
	return max(seconds, 1)
}

func wholeNumber(n *configtext.Node) (uint64, bool) {
	if n == nil || n.Kind != configtext.Number {
		return 0, false
	}
	number, err := strconv.ParseUint(n.Text, 10, 64)
	return number, err == nil
}

// textNode returns the text of a string, nil if it is none.
func textNode(n *configtext.Node) *string {
	if n == nil || n.Kind != configtext.String {
		return nil
	}
	return &n.Text
}
