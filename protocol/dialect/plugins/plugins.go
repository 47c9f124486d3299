package plugins

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

var (
	//go:embed bridge.ts
	bridge string
	//go:embed opencode.ts
	opencode string
	//go:embed pi.ts
	pi string
)

var sources = map[string]string{"opencode": opencode, "pi": pi}

// Mark begins the first line of every plug-in that hookd has written, and of no other file.
const Mark = "// hookd plug-in for "

// Source returns the plug-in of an agent, which starts hookd with these words (its absolute
// path first, then bridge AGENT and flags; the event comes after them) and waits at most
// limit for it. It returns nil if the agent has no plug-in.
func Source(agent string, command []string, limit time.Duration) []byte {
	source, is := sources[agent]
	if !is || len(command) == 0 {
		return nil
	}
	words, err := protocol.Marshal(command)
	if err != nil {
		return nil // texts always have a JSON form
	}
	return fmt.Appendf(nil, "%s%s, written by hookd install; hookd uninstall removes it.\nconst COMMAND = %s;\nconst LIMIT_MS = %d;\n\n%s\n%s", Mark, agent, words, limit.Milliseconds(), bridge, source)
}
