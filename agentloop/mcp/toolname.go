package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// longestName is what the strictest model takes.
const longestName = 64

// prefixOf is what the names of a server's tools begin with. The server's part
// holds no two underscores in a row and none at its ends, so the first two after
// it always end it: mcp__a__b__c is the tool b__c of a, and of nobody else.
func prefixOf(server string) string {
	part := plain(server)
	for strings.Contains(part, "__") {
		part = strings.ReplaceAll(part, "__", "_")
	}
	part = strings.Trim(part, "_")
	if part == "" || len(part) > 32 {
		part = strings.Trim(part[:min(len(part), 24)]+"_"+digest(server), "_")
	}
	return "mcp__" + part + "__"
}

// nameOf is the name that a model calls a tool by.
func nameOf(prefix, tool string) string {
	name := prefix + plain(tool)
	if len(name) > longestName {
		name = name[:longestName-9] + "_" + digest(tool)
	}
	return name
}

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

// plain keeps what every model takes in a name: ASCII letters, digits, _ and -.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}
