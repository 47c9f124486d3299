package proxied

import (
	"fmt"
	"sync"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Notes tells a person of lines that were not passed on, once for each reason: a program that
// writes its log to stdout would fill the person's.
type Notes struct {
	tell   func(text string)
	server string // what the other side of the client is

	mu   sync.Mutex
	told map[string]bool
}

// NewNotes returns notes for tell. server is what the program is called in them.
func NewNotes(server string, tell func(string)) *Notes {
	return &Notes{tell: tell, server: server, told: map[string]bool{}}
}

// mostReasons bounds the reasons that are told.
const mostReasons = 32

// Line is Options.Note of a relay.
func (n *Notes) Line(from relay.Side, why string, line []byte) {
	who := "the client"
	if from == relay.Server {
		who = n.server
	}
	n.mu.Lock()
	key := who + why
	tell := !n.told[key] && len(n.told) < mostReasons
	if tell {
		n.told[key] = true
	}
	n.mu.Unlock()
	if tell {
		n.tell(fmt.Sprintf("a line of %s was not passed on (%s; more like it are not told): %s", who, why, text.Shorten(text.Line(string(line[:min(len(line), 400)])), 120)))
	}
}
