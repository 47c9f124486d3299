package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/agentloop/toolschema"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// host keeps one server at work: it starts it, lists its tools, and starts it
// again when it ends.
type host struct {
	server  Server
	options *Options
	prefix  string
	notify  func(Notice)
	settled chan struct{} // closed when the first attempt has succeeded or failed

	mu    sync.Mutex
	tools []tool.Tool
	live  *live  // nil while it does not run
	why   string // it does not run

	oddities map[string]bool // kinds that were told of
}

// run keeps the server at work until ctx ends or it is given up.
func (h *host) run(ctx context.Context) {
	settle := sync.OnceFunc(func() { close(h.settled) })
	defer settle()
	failures, told := 0, false
	for {
		began, trouble := time.Now(), "does not start"
		l, err := h.begin(ctx, failures%2 == 1)
		if err == nil {
			trouble = "has ended"
			settle()
			if told {
				h.tell("runs again", "")
			}
			told = false
			err = h.attend(l)
		}
		h.lose("it has ended")
		l.close(cause(ctx, err))
		if l.ending.Left != "" {
			h.notify(Notice{
				Server: h.server.Name, Text: "left " + l.ending.Left + " running when it ended, which was ended",
				Remedy: "a server is to end what it has started", atEnd: true,
			})
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > steady {
			failures = 0
		}
		failures++
		reason := l.reason(err)
		if failures >= attempts {
			h.giveUp(reason)
			return
		}
		pause := min(h.options.Pause<<(failures-1), mostPause)
		h.lose(fmt.Sprintf("%s; it is started again", reason))
		if !told {
			h.tell(fmt.Sprintf("%s: %s; it is started again in %s", trouble, reason, pause), l.remedy(err))
			told = true
		}
		settle()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// cause is what calls in flight end with.
func cause(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	return io.EOF
}

// begin connects, lists the tools and offers them.
func (h *host) begin(ctx context.Context, legacy bool) (*live, error) {
	l, err := h.options.open(ctx, &h.server, legacy, h.odd)
	if err != nil {
		return l, err
	}
	list, err := l.list()
	if err != nil {
		return l, err
	}
	h.offer(l, list)
	return l, nil
}

// relist is the least time between two looks at a list that has changed.
const relist = time.Second

// attend follows the changes of the list until the connection is over.
func (h *host) attend(l *live) error {
	over := make(chan error, 1)
	go func() { over <- l.wait() }()
	for {
		select {
		case err := <-over:
			return err
		case <-l.change:
		}
		if list, err := l.list(); err == nil {
			h.offer(l, list)
		} else if l.life.Err() == nil {
			h.tell("lists its tools no more, the ones known stay: "+l.reason(err), "")
		}
		select {
		case err := <-over:
			return err
		case <-time.After(relist):
		}
	}
}

// offer makes tools of a server's list.
func (h *host) offer(l *live, list []listed) {
	var tools []tool.Tool
	var left []string
	taken := map[string]bool{}
	for _, t := range list {
		if l.life.Err() != nil {
			return // each schema takes its time
		}
		r, err := h.newTool(t, taken)
		if err != nil {
			left = append(left, fmt.Sprintf("%q (%v)", clip(t.Name, 80), err))
			continue
		}
		taken[r.description.Name] = true
		tools = append(tools, r)
	}
	h.mu.Lock()
	h.tools, h.live, h.why = tools, l, ""
	h.mu.Unlock()
	if len(left) > 0 {
		h.odd("left out: "+strings.Join(left, ", "), clip("has tools that are left out: "+strings.Join(left, ", "), 1000))
	}
}

// longestSchema is more than any model reads. To check one takes time that grows with
// its square.
const longestSchema = 256 << 10

func (h *host) newTool(t listed, taken map[string]bool) (*remote, error) {
	if t.Name == "" {
		return nil, errors.New("it has no name")
	}
	if len(t.Schema) > longestSchema {
		return nil, fmt.Errorf("its schema has %d bytes, the most is %d", len(t.Schema), longestSchema)
	}
	name := nameOf(h.prefix, t.Name)
	if taken[name] {
		return nil, fmt.Errorf("another one is %s already", name)
	}
	if t.Description == "" {
		t.Description = t.Title
	}
	description := tool.Description{
		Name: name, Description: t.Description, Schema: t.Schema,
		Kind: protocol.KindMCP, Server: h.server.Name,
	}
	r := &remote{host: h, name: t.Name, description: description}
	_, err := tool.NewRegistry(r)
	if err != nil {
		r.description.Schema = withoutForeignPatterns(t.Schema)
		_, err = tool.NewRegistry(r)
	}
	if err == nil {
		_, err = toolschema.Adapt(t.Schema) // one tool that a model's provider refuses would end every request
	}
	return r, err
}

// connection is what a call goes over, or why there is none.
func (h *host) connection() (*live, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.live == nil {
		return nil, fmt.Sprintf("the MCP server %s does not run: %s", h.server.Name, h.why)
	}
	return h.live, ""
}

// lose takes the connection away. The tools stay listed: the server may be back
// before the model's next call, and a call says what is wrong meanwhile.
func (h *host) lose(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live, h.why = nil, why
}

func (h *host) giveUp(reason string) {
	h.mu.Lock()
	h.live, h.tools, h.why = nil, nil, reason
	h.mu.Unlock()
	h.tell(fmt.Sprintf("is given up after %d attempts: %s", attempts, reason), "")
}

func (h *host) list() []tool.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tools
}

func (h *host) tell(text, remedy string) {
	h.notify(Notice{Server: h.server.Name, Text: text, Remedy: remedy})
}

// odd tells of what a server does that it should not and that does not end it,
// each kind once.
func (h *host) odd(kind, text string) {
	h.mu.Lock()
	told := h.oddities[kind] || len(h.oddities) > 100
	if h.oddities == nil {
		h.oddities = map[string]bool{}
	}
	h.oddities[kind] = true
	h.mu.Unlock()
	remedy := "it is a mistake of the server"
	if kind == "chatter" {
		remedy = "a server must write its banners and logs to stderr"
	}
	if !told {
		h.tell(text, remedy)
	}
}

// reason is why a connection is over or a request failed, for people and models.
func (l *live) reason(err error) string {
	var status *statusError
	var refused *refusedError
	switch {
	case errors.As(err, &status):
		return status.Error()
	case errors.As(err, &refused):
		return refused.Error()
	}
	text := ""
	if l.stdio != nil {
		text = l.programReason(err)
	}
	if text == "" && err != nil {
		text = plainText(err)
	}
	if text == "" || errors.Is(err, io.EOF) && l.stdio == nil {
		text = "the connection has ended"
	}
	return clip(text, 4000)
}

// programReason is why a program cannot be talked with: what it wrote that is no
// message, how it ended, and its last words.
func (l *live) programReason(err error) string {
	var parts []string
	if broken := l.stdio.failure(); broken != nil {
		parts = append(parts, "it "+broken.Error())
	} else if err != nil && !isEnd(err) {
		parts = append(parts, plainText(err))
	}
	select {
	case <-l.ended:
		if len(parts) == 0 {
			parts = append(parts, l.ending.Text)
		}
		if words := lastWords(l.ending.Stderr); words != "" {
			parts = append(parts, "its last words: "+words)
		}
	default:
	}
	if line := l.stdio.banner(); line != "" && l.stdio.failure() == nil {
		parts = append(parts, "it wrote to its stdout, where only messages may be: "+line)
	}
	return strings.Join(parts, "; ")
}

// isEnd reports whether err only says that the connection is over.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, sdk.ErrConnectionClosed) || strings.Contains(err.Error(), "connection closed") || strings.HasSuffix(err.Error(), "EOF")
}

// lastWords is the end of what a program wrote to stderr.
func lastWords(stderr string) string {
	const most = 1000
	text := strings.TrimSpace(stderr)
	if len(text) > most {
		text = "… " + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}

// notSent is how the SDK marks what did not reach a server, as if it were an
// error of the protocol.
const notSent = "rejected by transport"

// refusal is the error that a server answered with, nil if err is something else.
func refusal(err error) *jsonrpc.Error {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && refused.Message != notSent {
		return refused
	}
	return nil
}

func plainText(err error) string {
	if refused := refusal(err); refused != nil {
		return "it answered: " + refused.Message
	}
	if text := withoutAddress(err).Error(); strings.Contains(text, notSent+": ") {
		_, after, _ := strings.Cut(text, notSent+": ")
		return after
	}
	if strings.Contains(err.Error(), "unsupported protocol version") {
		return "it speaks another revision of MCP than hookd: " + withoutAddress(err).Error()
	}
	return withoutAddress(err).Error()
}

// remedy is what to do about a server that does not start.
func (l *live) remedy(err error) string {
	var status *statusError
	if errors.As(err, &status) {
		return "a key goes into headers of agent.mcpServers." + l.server.Name + `, such as "Authorization": "Bearer …"`
	}
	if l.stdio != nil && l.stdio.banner() != "" {
		return "a server must write its banners to stderr"
	}
	return "look at command, args, env, url and headers of agent.mcpServers." + l.server.Name
}
