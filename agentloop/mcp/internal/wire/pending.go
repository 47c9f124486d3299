package wire

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// pendingRequests are the requests of a connection that have no answer yet, by their
// ids, which the SDK counts from 1. It takes care that each answer finds its request: the
// SDK drops one that it cannot place, and the call would wait until the run ends.
type pendingRequests struct {
	report Report // of an answer that is dropped

	mu   sync.Mutex
	open map[int64]*pendingRequest
	last int64 // the highest id so far
}

// pendingRequest is one of them.
type pendingRequest struct {
	method string
	raw    *RawResult // for a result as the server wrote it; nil: nobody wants it
	left   bool       // nobody waits any more: a late answer is no mistake
}

func newPendingRequests(report Report) *pendingRequests {
	return &pendingRequests{report: report, open: map[int64]*pendingRequest{}}
}

// expect notes a request that is about to be sent; ctx is that of its caller.
func (a *pendingRequests) expect(ctx context.Context, id int64, method string) {
	w := &pendingRequest{method: method, raw: rawResultOf(ctx)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open[id], a.last = w, max(a.last, id)
	context.AfterFunc(ctx, func() { a.leave(w) })
}

func (a *pendingRequests) leave(w *pendingRequest) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.left = true
}

// resolve returns the answers that the SDK is to read for one of a server's: that one,
// with the id that was sent, or refusals, or none. only is the one request that it can be
// for, 0 if it may be for any.
func (a *pendingRequests) resolve(e *message, only int64) []*jsonrpc.Response {
	answers, kind, complaint := a.place(e, only)
	if complaint != "" {
		a.report(kind, complaint)
	}
	return answers
}

func (a *pendingRequests) place(e *message, only int64) (answers []*jsonrpc.Response, kind, complaint string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, named := idOf(e.ID)
	if named && a.open[id] != nil && (only == 0 || id == only) {
		return []*jsonrpc.Response{a.answer(id, e)}, "", ""
	}
	asked := a.asked(only)
	if named && id >= 1 && id <= a.last && (only == 0 || len(asked) == 0) {
		return nil, "twice", fmt.Sprintf("answers a request twice (id %d); the first answer counts", id)
	}
	failed, nameless := e.failure(), e.ID == nil || jsonspan.Kind(e.ID) == 'n'
	switch {
	case nameless && failed != nil && len(asked) > 0: // it could not read one of them
		for _, id := range asked {
			answers = append(answers, a.refuse(id, failed))
		}
		return answers, "", ""
	case nameless && failed != nil:
		return nil, "nameless", "answers with an error that names no request: " + Clip(failed.Message, 200)
	case len(asked) == 1:
		return []*jsonrpc.Response{a.refuse(asked[0], &jsonrpc.Error{
			Code:    jsonrpc.CodeInternalError,
			Message: fmt.Sprintf("its answer has the id %s, and the request had %d", idText(e.ID), asked[0]),
		})}, "", ""
	}
	return nil, "unknown", fmt.Sprintf("answers a request that nobody made (id %s)", idText(e.ID))
}

// asked returns the requests that somebody waits for. The one that follows the changes
// of a list is answered at the end only.
func (a *pendingRequests) asked(only int64) (ids []int64) {
	for id, w := range a.open {
		if (only == 0 || id == only) && !w.left && w.method != "subscriptions/listen" {
			ids = append(ids, id)
		}
	}
	return ids
}

func (a *pendingRequests) answer(id int64, e *message) *jsonrpc.Response {
	w := a.open[id]
	if failed := e.failure(); failed != nil {
		return a.refuse(id, failed)
	}
	delete(a.open, id)
	response := &jsonrpc.Response{ID: numberID(id), Result: []byte(e.Result)}
	if w.raw != nil {
		w.raw.set(e.Result)
		response.Result = placeholder(w.method, e.Result)
	}
	return response
}

func (a *pendingRequests) refuse(id int64, why *jsonrpc.Error) *jsonrpc.Response {
	a.open[id].raw.refuse(why)
	delete(a.open, id)
	return &jsonrpc.Response{ID: numberID(id), Error: why}
}

// abandon refuses a request in the server's place, unless it was answered. A
// late answer is no mistake.
func (a *pendingRequests) abandon(id int64, why *jsonrpc.Error) *jsonrpc.Response {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.open[id]
	if w == nil {
		return nil
	}
	w.left = true
	return &jsonrpc.Response{ID: numberID(id), Error: why}
}

// has reports whether an answer of that id is pendingRequests.
func (a *pendingRequests) has(raw protocol.RawMessage) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, named := idOf(raw)
	return named && a.open[id] != nil
}

// idOf returns the number that an id stands for. Some servers make a string of it.
func idOf(raw protocol.RawMessage) (id int64, is bool) {
	text := string(raw)
	if jsonspan.Kind(raw) == '"' && json.Unmarshal(raw, &text, Lenient) != nil {
		return 0, false
	}
	id, err := strconv.ParseInt(strings.TrimSuffix(text, ".0"), 10, 64)
	return id, err == nil
}

func idText(raw protocol.RawMessage) string {
	if raw == nil {
		return "null"
	}
	return sample(raw[:min(len(raw), 80)])
}

func numberID(id int64) jsonrpc.ID {
	made, err := jsonrpc.MakeID(float64(id))
	if err != nil {
		panic(err) // a number always is one
	}
	return made
}
