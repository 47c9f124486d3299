package guarded

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// How long a client that was told nothing yet is waited for, and one for its next request: some
// begin anew, in an older way, after an error.
const (
	firstRequest = 2 * time.Second
	nextRequest  = 300 * time.Millisecond
)

const codeInternal = -32603 // of JSON-RPC

// Unstarted tells the client why nothing begins, as the answer to its requests, and returns err.
// Clients show that; what is on stderr many of them keep where few people look.
func Unstarted(ctx context.Context, console *cli.Console, err error) error {
	if fault, is := errors.AsType[*cli.Fault](err); is && (console.In == nil || !show.IsTerminal(console.In)) {
		text := "hookd: " + show.OneLine(fault.Message)
		if fault.Hint != "" {
			text += " (" + show.OneLine(fault.Hint) + ")"
		}
		answerAll(ctx, console.In, console.Out.W, text, firstRequest, nextRequest)
	}
	return err
}

// answerAll answers requests with an error until no more come in time: first is for one at all, next
// for another. What reads them ends with in, or with the process.
func answerAll(ctx context.Context, in io.Reader, out io.Writer, text string, first, next time.Duration) {
	ids, quit := make(chan []byte), make(chan struct{})
	defer close(quit)
	go func() {
		defer close(ids)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20) // a client's first requests are small
		for lines.Scan() {
			id := requestID(lines.Bytes())
			if id == nil {
				continue
			}
			select {
			case ids <- id:
			case <-quit:
				return
			}
		}
	}()
	for patience := first; ; patience = next {
		select {
		case id, more := <-ids:
			if !more {
				return
			}
			if _, err := out.Write(append(relay.ErrorLine(id, codeInternal, text), '\n')); err != nil {
				return
			}
		case <-time.After(patience):
			return
		case <-ctx.Done():
			return
		}
	}
}

// requestID returns the id of a request, nil of all else.
func requestID(line []byte) []byte {
	if !jsonspan.Valid(line) || jsonspan.Get(line, "method") == nil {
		return nil
	}
	id := jsonspan.Get(line, "id")
	if kind := jsonspan.Kind(id); kind != '"' && kind != '0' {
		return nil
	}
	return bytes.Clone(id)
}
