package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/agentloop/toolschema"
	"github.com/hookd-dev/hookd/internal/argschema"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// supervisor keeps one server running: it starts the server, lists its tools, and starts it
// again when it ends.
type supervisor struct {
	server  Server
	options *Options
	prefix  string
	notify  func(Notice)
	started chan struct{} // closed when the first attempt has succeeded or failed

	mu         sync.Mutex
	tools      []tool.Tool
	connection *connection // nil while it does not run
	why        string      // it does not run

	reported map[string]bool // kinds of mistakes
}

// run keeps the server running until ctx ends or it is given up.
func (h *supervisor) run(ctx context.Context) {
	started := sync.OnceFunc(func() { close(h.started) })
	defer started()
	failures, told := 0, false
	for {
		began, problem := time.Now(), "does not start"
		c, err := h.connect(ctx, failures%2 == 1)
		if err == nil {
			problem = "has ended"
			started()
			if told {
				h.tell("runs again", "")
			}
			told = false
			err = h.followTools(c)
		}
		h.disconnected("it has ended")
		c.close(cause(ctx, err))
		if c.ending.Left != "" {
			h.notify(Notice{
				Server: h.server.Name, Text: "left " + c.ending.Left + " running when it ended, which was ended",
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
		reason := c.reason(err)
		if failures >= attempts {
			h.giveUp(reason)
			return
		}
		pause := min(h.options.Pause<<(failures-1), maxPause)
		h.disconnected(fmt.Sprintf("%s; it is started again", reason))
		if !told {
			h.tell(fmt.Sprintf("%s: %s; it is started again in %s", problem, reason, pause), c.remedy(err))
			told = true
		}
		started()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// cause returns what calls in flight end with.
func cause(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	return io.EOF
}

// connect connects, lists the tools and offers them.
func (h *supervisor) connect(ctx context.Context, legacy bool) (*connection, error) {
	c, err := h.options.open(ctx, &h.server, legacy, h.report)
	if err != nil {
		return c, err
	}
	list, err := c.list()
	if err != nil {
		return c, err
	}
	h.offerTools(c, list)
	return c, nil
}

// relist is the least time between two looks at a list that has changed.
const relist = time.Second

// followTools follows the changes of the list until the connection is over.
func (h *supervisor) followTools(c *connection) error {
	over := make(chan error, 1)
	go func() { over <- c.wait() }()
	for {
		select {
		case err := <-over:
			return err
		case <-c.listChanged:
		}
		if list, err := c.list(); err == nil {
			h.offerTools(c, list)
		} else if c.life.context.Err() == nil {
			h.tell("lists its tools no more, the ones known stay: "+c.reason(err), "")
		}
		select {
		case err := <-over:
			return err
		case <-time.After(relist):
		}
	}
}

// offerTools makes tools of a server's list and offers them.
func (h *supervisor) offerTools(c *connection, list []listed) {
	var tools []tool.Tool
	var left []string
	taken := map[string]bool{}
	for i, t := range list {
		if c.life.context.Err() != nil {
			return // each schema takes its time
		}
		r, err := h.newTool(t, taken)
		if err != nil {
			name := fmt.Sprintf("%q", wire.Clip(t.Name, 80))
			if t.Name == "" {
				name = fmt.Sprintf("number %d of its list", i+1)
			}
			left = append(left, fmt.Sprintf("%s (%v)", name, err))
			continue
		}
		taken[r.description.Name] = true
		tools = append(tools, r)
	}
	h.mu.Lock()
	h.tools, h.connection, h.why = tools, c, ""
	h.mu.Unlock()
	if len(left) > 0 {
		h.reportOnce("left out: "+strings.Join(left, ", "), wire.Clip("has tools that are left out: "+strings.Join(left, ", "), 1000),
			"correct them in the server; its other tools are there")
	}
}

// maxSchema is more than any model reads. To check one takes time that grows with
// its square.
const maxSchema = 256 << 10

func (h *supervisor) newTool(t listed, taken map[string]bool) (*remoteTool, error) {
	switch {
	case t.Problem != nil:
		return nil, t.Problem
	case t.Name == "":
		return nil, errors.New("it has no name")
	}
	if len(t.Schema) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes, the most is %d", len(t.Schema), maxSchema)
	}
	name := toolname.Served(h.prefix, t.Name)
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
	r := &remoteTool{supervisor: h, name: t.Name, description: description}
	_, err := tool.NewRegistry(r)
	if err != nil {
		r.description.Schema = argschema.WithoutForeignPatterns(t.Schema)
		_, err = tool.NewRegistry(r)
	}
	if err == nil {
		_, err = toolschema.Adapt(t.Schema) // one tool that a model's provider refuses would end every request
	}
	return r, err
}

// current returns the connection that a call uses, or why there is none.
func (h *supervisor) current() (*connection, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.connection == nil {
		return nil, fmt.Sprintf("the MCP server %s does not run: %s", h.server.Name, h.why)
	}
	return h.connection, ""
}

// disconnected takes the connection away. The tools stay listed: the server may be back
// before the model's next call, and a call says what is wrong meanwhile.
func (h *supervisor) disconnected(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connection, h.why = nil, why
}

func (h *supervisor) giveUp(reason string) {
	h.mu.Lock()
	h.connection, h.tools, h.why = nil, nil, reason
	h.mu.Unlock()
	h.tell(fmt.Sprintf("is given up after %d attempts: %s", attempts, reason), "")
}

func (h *supervisor) toolList() []tool.Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tools
}

func (h *supervisor) tell(text, remedy string) {
	h.notify(Notice{Server: h.server.Name, Text: h.server.withoutSecrets(text), Remedy: remedy})
}

// report tells of a mistake of a server that does not end it, each kind once.
func (h *supervisor) report(kind, text string) {
	remedy := "it is a mistake of the server"
	if kind == "chatter" {
		remedy = "a server must write its banners and logs to stderr"
	}
	h.reportOnce(kind, text, remedy)
}

func (h *supervisor) reportOnce(kind, text, remedy string) {
	h.mu.Lock()
	told := h.reported[kind] || len(h.reported) > 100
	if h.reported == nil {
		h.reported = map[string]bool{}
	}
	h.reported[kind] = true
	h.mu.Unlock()
	if !told {
		h.tell(text, remedy)
	}
}
