package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
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
