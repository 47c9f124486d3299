package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// notify sends a notification, unless the client is so slow that its budget is
// used up. It never waits.
func (c *conn) notify(method string, params any) {
	value, failure := encode(params)
	if failure != nil {
		return
	}
	dropped, _ := c.out.Offer(rpc.AppendRequest(nil, nil, method, value))
	c.out.WriteInBackground()
	if dropped > 0 {
		c.notify(logMessage, logParams{Level: "warn", Time: time.Now().UTC(),
			Message: fmt.Sprintf("%d notifications were left out: the client reads too slowly", dropped)})
	}
}

// hookParams are the params of hook/started and hook/finished.
type hookParams struct {
	Session string             `json:"session"`
	Event   protocol.EventName `json:"event"`
	ID      string             `json:"id"` // of the event
	Seq     int64              `json:"seq"`
	Hook    string             `json:"hook"`
	Source  protocol.Layer     `json:"source"`
	Run     *protocol.Run      `json:"run,omitzero"`
}

// progressOf passes the progress of an event on to the client that fired it
// and to the one whose session it is.
func (c *conn) progressOf(session *session, event *protocol.Event) Progress {
	about := hookParams{Session: session.ID, Event: event.Event, ID: event.ID, Seq: *event.Seq}
	send := func(method string, params hookParams) {
		if c.peer.Load().wants(method) {
			c.notify(method, params)
		}
		if owner := session.owner; owner != c && owner.peer.Load().wants(method) {
			owner.notify(method, params)
		}
	}
	return Progress{
		Started: func(hook string, layer protocol.Layer) {
			params := about
			params.Hook, params.Source = hook, layer
			send(hookStarted, params)
		},
		Finished: func(run protocol.Run) {
			params := about
			params.Hook, params.Source, params.Run = run.Hook, run.Source, &run
			send(hookFinished, params)
		},
	}
}

// logParams are the params of the notification log.
type logParams struct {
	Level   string            `json:"level"` // debug info warn error
	Time    time.Time         `json:"time"`
	Message string            `json:"message"`
	Attrs   map[string]string `json:"attrs,omitzero"`
}

// logHandler writes to the program's own log and to the clients that asked.
type logHandler struct {
	wanted func() bool       // reports whether any client asked for the log
	each   func(func(*conn)) // calls a function for every connection
	next   slog.Handler
	attrs  []slog.Attr
	group  string
}

// Enabled reports whether anybody wants the log: of each hook's run there is a line.
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level) || h.wanted()
}

func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	params := logParams{Time: record.Time.UTC(), Message: record.Message, Attrs: map[string]string{}}
	params.Level = level(record.Level)
	add := func(a slog.Attr) bool {
		params.Attrs[h.group+a.Key] = a.Value.Resolve().String()
		return true
	}
	for _, a := range h.attrs {
		params.Attrs[a.Key] = a.Value.Resolve().String()
	}
	record.Attrs(add)
	h.each(func(c *conn) {
		if c.peer.Load().wants(logMessage) {
			c.notify(logMessage, params)
		}
	})
	if !h.next.Enabled(ctx, record.Level) {
		return nil
	}
	return h.next.Handle(ctx, record)
}

func level(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "debug"
	case l < slog.LevelWarn:
		return "info"
	case l < slog.LevelError:
		return "warn"
	}
	return "error"
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.next = h.next.WithAttrs(attrs)
	with.attrs = append([]slog.Attr(nil), h.attrs...)
	for _, a := range attrs {
		a.Key = h.group + a.Key
		with.attrs = append(with.attrs, a)
	}
	return &with
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.next = h.next.WithGroup(name)
	with.group = h.group + name + "."
	return &with
}
