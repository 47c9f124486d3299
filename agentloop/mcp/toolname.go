package mcp

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// longestOwnName is the longest name that MCP allows a tool, in characters.
const longestOwnName = 128

// nameProblem says why a server's own name of a tool cannot be used, nil if it can. A
// person must be able to read the name that they allow or write into a guard, and a call
// must reach the server under the very name that it has there.
func nameProblem(written protocol.RawMessage) error {
	name := textOf(written)
	switch {
	case len(written) == 0 || jsonspan.Kind(written) == 'n' || string(written) == `""`:
		return errors.New("it has no name")
	case jsonspan.Kind(written) != '"':
		return fmt.Errorf("its name is %s, which is no text", wire.Clip(string(written), 40))
	case strings.ContainsRune(name, utf8.RuneError):
		return errors.New("its name is not valid UTF-8")
	case strings.ContainsFunc(name, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) }):
		return errors.New("its name holds characters that cannot be seen")
	case utf8.RuneCountInString(name) > longestOwnName:
		return fmt.Errorf("its name has %d characters, the most is %d", utf8.RuneCountInString(name), longestOwnName)
	}
	return nil
}
