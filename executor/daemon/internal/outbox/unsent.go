package outbox

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Unsent is what a client never got. The events were decided and are in the record:
// a person must be able to see that their host does not know the verdict.
type Unsent struct {
	Err      error    // of the write that failed, nil if the connection was closed first
	requests []string // those whose responses are lost, at most mostNamed
	more     int      // further ones
}

// mostNamed is how many requests one line of the log names.
const mostNamed = 8

func (u *Unsent) add(out outgoing) {
	switch {
	case out.to == nil: // notifications may be left out
	case len(u.requests) == mostNamed:
		u.more++
	default:
		u.requests = append(u.requests, out.to.text(out.line))
	}
}

// after returns what was not sent with lines that were put before it.
func (u Unsent) after(earlier []outgoing) Unsent {
	all := Unsent{Err: u.Err}
	for _, out := range earlier {
		all.add(out)
	}
	room := min(mostNamed-len(all.requests), len(u.requests))
	all.requests = append(all.requests, u.requests[:room]...)
	all.more += u.more + len(u.requests) - room
	return all
}

// Requests names the requests whose responses are lost. It is "" if there are none.
func (u *Unsent) Requests() string {
	names := strings.Join(u.requests, "; ")
	if u.more > 0 {
		names += fmt.Sprintf("; and %d more", u.more)
	}
	return names
}

// Subject says which request a response is to. It holds nothing of the request's line,
// whose memory is free once it is answered.
type Subject struct {
	Method  string // "" for a line that is no request
	Session string
	Event   protocol.EventName // that was fired, "" if none
	Seq     int64
}

// text names the request whose response a line is.
func (s *Subject) text(response []byte) string {
	name := cmp.Or(text.Shorten(s.Method, 60), "a line that is no request")
	if id := jsonspan.Get(response, "id"); len(id) > 0 && jsonspan.Kind(id) != 'n' {
		name += " " + text.Shorten(string(id), 60)
	}
	if s.Event != "" {
		name += ": " + string(s.Event)
	}
	if s.Session != "" {
		name += " of session " + text.Shorten(s.Session, 60)
	}
	if s.Seq != 0 {
		name += fmt.Sprintf(", seq %d", s.Seq)
	}
	return name
}
