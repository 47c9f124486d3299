package toolname

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestServed is the longest name of a server's tool: what the strictest model takes.
const longestServed = 64

// PrefixOf is what our names of the tools of an MCP server begin with. The server's part
// holds no two underscores in a row and none at its ends, so the first two after
// it always end it: mcp__a__b__c is the tool b__c of a, and of nobody else.
func PrefixOf(server string) string {
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

// Served is our name of a server's tool, for which a model may call it.
func Served(prefix, tool string) string {
	name := prefix + plain(tool)
	if len(name) > longestServed {
		name = name[:longestServed-9] + "_" + digest(tool)
	}
	return name
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
