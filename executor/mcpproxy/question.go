package mcpproxy

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Bounds of questions to the person.
const (
	// mostQuestions is how many are open at once: a call that waits for its answer is held,
	// and while too many are, the client is not read, and so no answer is.
	mostQuestions = 16
	// mostShown is how long args may be that are shown to a person: all of them are.
	mostShown = 16 << 10
	// mostReason bounds the hook's words in a question.
	mostReason = 1000
)

// defaultAskTimeout is how long a person may take to answer.
const defaultAskTimeout = 10 * time.Minute

// Answers that the person chooses from. The first is what a form may show as chosen.
const (
	answerNo  = "refuse"
	answerYes = "allow"
)

// answer is what came back to a question.
type answer struct {
	yes   bool
	by    protocol.Answerer // who says so, where the answer is no
	words string            // why it is no
}

var (
	noAnswer   = answer{by: protocol.ByTimeout, words: "nobody answered in time"}
	badAnswer  = answer{by: protocol.ByFault, words: "the person could not be asked"}
	deniedByIt = answer{by: protocol.ByPerson, words: "denied by the person"}
	closedByIt = answer{by: protocol.ByPerson, words: "the question was closed without an answer"} // by the person, or by a client that has none: claude -p
)

// readAnswer reads a result of elicitation. All but a clear yes is a no.
func readAnswer(result protocol.RawMessage) answer {
	if !jsonspan.Valid(result) || jsonspan.Kind(result) != '{' {
		return badAnswer
	}
	chosen := jsonspan.Text(jsonspan.Find(result, "/content/answer"))
	switch action := jsonspan.Text(jsonspan.Get(result, "action")); {
	case action == "accept" && chosen == answerYes:
		return answer{yes: true}
	case action == "accept" && chosen == answerNo, action == "decline":
		return deniedByIt
	case action == "cancel":
		return closedByIt
	}
	return badAnswer
}

// elicitation is the params of a question about a request: a form with one choice. What it
// shows is made visible, since hooks, models and servers wrote it.
func elicitation(what string, c *protocol.Call, by protocol.Asker) []byte {
	var message strings.Builder
	fmt.Fprintf(&message, "A hook of hookd wants you to decide about %s.\n\nTool: %s\nArguments: %s\nAsked by: %s", what, text.Line(c.Name), text.Line(string(c.Args)), text.Line(by.Name))
	if reason := strings.TrimSpace(by.Reason); reason != "" {
		fmt.Fprintf(&message, "\nReason: %s", text.Line(text.Shorten(reason, mostReason)))
	}
	params := append([]byte(`{"message":`), jsonspan.Quote(message.String())...)
	return append(params, `,"requestedSchema":{"type":"object","properties":{"answer":{"type":"string","title":"May it be done?","enum":["`+answerNo+`","`+answerYes+`"]}},"required":["answer"]}}`...)
}

// takesForms reports whether the elicitation capability of a client has forms. Before there
// was another kind it was an empty object.
func takesForms(capability protocol.RawMessage) bool {
	return jsonspan.Kind(capability) == '{' && (jsonspan.Get(capability, "form") != nil || len(jsonspan.Members(capability)) == 0)
}

// questions are the requests of our own to a client that takes requests. A client of a newer
// revision is asked by a result; see [asking].
type questions struct {
	send   func(line []byte) // to the client
	prefix string            // of our ids, which nobody can guess: the server has ids of its own
	taken  atomic.Bool       // the client takes questions, as it said in initialize

	mu    sync.Mutex
	count int
	open  map[string]chan answer // by id
	busy  int                    // calls that wait for a person
}

func newQuestions() *questions {
	return &questions{prefix: "hookd-" + protocol.NewID() + "-", open: map[string]chan answer{}}
}

// begin reports whether one more call may wait for a person. end says that it waits no more.
func (q *questions) begin() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy >= mostQuestions {
		return false
	}
	q.busy++
	return true
}

func (q *questions) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
}

// put puts a question to the client and waits for the answer.
func (q *questions) put(ctx context.Context, params []byte) answer {
	came := make(chan answer, 1)
	q.mu.Lock()
	q.count++
	id := fmt.Sprintf("%s%d", q.prefix, q.count)
	q.open[id] = came
	q.mu.Unlock()
	quoted := jsonspan.Quote(id)
	q.send(append(append(append(append([]byte(`{"jsonrpc":"2.0","id":`), quoted...), `,"method":"elicitation/create","params":`...), params...), '}'))
	select {
	case a := <-came:
		return a
	case <-ctx.Done():
	}
	q.mu.Lock()
	delete(q.open, id)
	q.mu.Unlock()
	q.send(append(append([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), quoted...), `,"reason":"the call does not wait for the answer any more"}}`...))
	return noAnswer
}

// answered takes a response of the client and reports whether it is to a question of ours.
func (q *questions) answered(m *relay.Message) bool {
	id := jsonspan.Text(m.ID)
	if !strings.HasPrefix(id, q.prefix) {
		return false
	}
	q.mu.Lock()
	came := q.open[id]
	delete(q.open, id)
	q.mu.Unlock()
	switch {
	case came == nil: // too late
	case m.Error != nil || !m.Strict:
		came <- badAnswer
	default:
		came <- readAnswer(m.Result)
	}
	return true
}
