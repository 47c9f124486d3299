package mcpproxy

import (
	"fmt"
	"sync"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// notes tells a person of lines that were not passed on, once for each reason: a server that
// writes its log to stdout would fill the person's.
type notes struct {
	tell func(text string)

	mu   sync.Mutex
	told map[string]bool
}

func newNotes(tell func(string)) *notes { return &notes{tell: tell, told: map[string]bool{}} }

// mostReasons bounds the reasons that are told.
const mostReasons = 32

func (n *notes) line(from relay.Side, why string, line []byte) {
	who := "the client"
	if from == relay.Server {
		who = "the server"
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
