package executor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// quiet is a run as a record has it that is not to hold values of events: what a
// hook wrote besides its verdict may repeat its event. Of stderr remains how long it
// is and its hash, of what messages quote nothing longer than a word. The verdict's
// reason stays: it is there to be read.
func quiet(run protocol.Run, values schema.RecordValues) protocol.Run {
	if values == schema.ValuesFull || run.Sensitive { // of a sensitive one nothing is left to take out
		return run
	}
	if run.Hash != "" && run.Stderr != "" { // a Go hook has no stderr, but a stack
		text := fmt.Sprintf("[%d bytes", len(run.Stderr))
		if values != schema.ValuesNone {
			sum := sha256.Sum256([]byte(run.Stderr))
			text += ", sha256:" + hex.EncodeToString(sum[:])
		}
		run.Stderr = text + "]"
	}
	run.Detail = unquoted(run.Detail)
	var warnings []string
	for _, w := range run.Warnings {
		if besides, found := strings.CutPrefix(w, protocol.BesidesReply); found {
			w = fmt.Sprintf("%s[%d bytes]", protocol.BesidesReply, len(besides))
		}
		warnings = append(warnings, unquoted(w))
	}
	run.Warnings = warnings
	return run
}

// quote is a quotation, as %q writes it.
var quote = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// longestQuote is that of a word, with its quotes.
const longestQuote = 14

func unquoted(text string) string {
	return quote.ReplaceAllStringFunc(text, func(quoted string) string {
		if len(quoted) <= longestQuote {
			return quoted
		}
		return `"…"`
	})
}
