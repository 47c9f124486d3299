package mcphttp

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// modern is the first revision without sessions, whose messages are repeated in headers.
const modern = "2026-07-28"

// versionMember is where a message of the newer revisions says which one it is of.
const versionMember = "/_meta/io.modelcontextprotocol~1protocolVersion"

// state is what a connection has learned, and its open requests.
type state struct {
	mu       sync.Mutex
	id       string // of the session
	version  string // that initialize agreed on, "" before
	posts    string // address that messages are posted to, "" for that of the server; see ssetransport.go
	open     map[string]*request
	bindings map[string][]binding // by tool: arguments that are repeated in headers
}

// request is a request without an answer.
type request struct {
	m      *relay.Message
	key    string
	cancel context.CancelCauseFunc
}

// binding says that an argument of a tool is repeated in a header.
type binding struct {
	pointer, header string
}

func (s *state) session() (id, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.version
}

// agreed takes what the answer to initialize says.
func (s *state) agreed(id, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.version = id, version
}

func (s *state) postsTo() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.posts
}

func (s *state) setPosts(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts = address
}

func (s *state) add(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[r.key] = r
}

// answered returns the request that an answer is to, which is open no more, nil if there is none.
func (s *state) answered(id protocol.RawMessage) *request {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := relay.Key(id)
	r := s.open[key]
	delete(s.open, key)
	return r
}

func (s *state) remove(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[r.key] == r {
		delete(s.open, r.key)
	}
}

// cancel ends a request, as servers without sessions want it: its stream is closed.
func (s *state) cancel(id protocol.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.open[relay.Key(id)]; r != nil {
		r.cancel(errCancelled)
	}
}

// endSubscriptions ends the requests that have no answer as long as somebody listens.
func (s *state) endSubscriptions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.open {
		if r.m.Method == "subscriptions/listen" {
			r.cancel(errEnd)
		}
	}
}

// Bounds of what is kept of arguments that are repeated.
const (
	mostTools    = 4096
	mostBindings = 32      // of a tool
	mostDepth    = 8       // of an argument
	mostName     = 1 << 10 // bytes of a tool's name, of where an argument stands, of a header's name
)

// learn keeps which arguments of the listed tools are repeated in headers.
func (s *state) learn(list protocol.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tool := range jsonspan.Elements(jsonspan.Get(list, "tools")) {
		name := jsonspan.Text(jsonspan.Get(tool, "name"))
		delete(s.bindings, name)
		if found := bindingsOf(jsonspan.Get(tool, "inputSchema"), "", 0, nil); len(found) > 0 && len(name) <= mostName && len(s.bindings) < mostTools {
			s.bindings[name] = found
		}
	}
}

// bindingsOf finds the marked properties of a schema.
func bindingsOf(schema protocol.RawMessage, pointer string, depth int, found []binding) []binding {
	for _, property := range jsonspan.Members(jsonspan.Get(schema, "properties")) {
		at := pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(property.Name)
		header := jsonspan.Text(jsonspan.Get(property.Value, "x-mcp-header"))
		if isToken(header) && len(at) <= mostName && len(header) <= mostName && len(found) < mostBindings {
			found = append(found, binding{at, header})
		}
		if depth < mostDepth {
			found = bindingsOf(property.Value, at, depth+1, found)
		}
	}
	return found
}

// ours are headers that hookd, or what it speaks HTTP with, writes itself.
var ours = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host", "Keep-Alive",
	"Last-Event-Id", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// CheckHeader says why a header cannot be sent with every message.
func CheckHeader(name, value string) error {
	canonical := http.CanonicalHeaderKey(name)
	switch {
	case !isToken(name):
		return errors.New("a name has ASCII letters, digits and - only")
	case strings.HasPrefix(canonical, "Mcp-"), slices.Contains(ours, canonical):
		return errors.New("hookd writes it itself")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return errors.New("the value has a line break, or another character that no header can hold")
	}
	return nil
}

// isToken reports whether a text can be part of the name of a header.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// write writes what the protocol wants in the headers of a message; m is nil of a request
// without one.
func (s *state) write(header http.Header, m *relay.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version := s.version
	if m != nil {
		if of := jsonspan.Text(jsonspan.Find(m.Params, versionMember)); of != "" {
			version = of
		}
	}
	if s.id != "" {
		header.Set("Mcp-Session-Id", s.id)
	}
	if version == "" {
		return
	}
	header.Set("Mcp-Protocol-Version", headerValue(version))
	if m == nil || version < modern || m.Method == "" {
		return
	}
	header.Set("Mcp-Method", headerValue(m.Method))
	switch m.Method {
	case "tools/call", "prompts/get":
		name := jsonspan.Text(jsonspan.Get(m.Params, "name"))
		header.Set("Mcp-Name", headerValue(name))
		if m.Method == "tools/call" {
			s.writeArgs(header, name, jsonspan.Get(m.Params, "arguments"))
		}
	case "resources/read":
		header.Set("Mcp-Name", headerValue(jsonspan.Text(jsonspan.Get(m.Params, "uri"))))
	}
}

// writeArgs repeats the arguments of a call, as hooks left them.
func (s *state) writeArgs(header http.Header, tool string, args protocol.RawMessage) {
	for _, b := range s.bindings[tool] {
		value := jsonspan.Find(args, b.pointer)
		switch jsonspan.Kind(value) {
		case '"':
			header.Set("Mcp-Param-"+b.header, headerValue(jsonspan.Text(value)))
		case 't', 'f':
			header.Set("Mcp-Param-"+b.header, string(jsonspan.Trim(value)))
		case '0':
			n, err := strconv.ParseFloat(string(jsonspan.Trim(value)), 64)
			if whole := int64(n); err == nil && float64(whole) == n && whole < 1<<53 && whole > -1<<53 {
				header.Set("Mcp-Param-"+b.header, strconv.FormatInt(whole, 10))
			}
		}
	}
}

const coded, codedEnd = "=?base64?", "?="

// headerValue returns a text as the value of a header, coded where it cannot stand there as
// it is.
func headerValue(text string) string {
	plain := strings.Trim(text, " \t") == text && !strings.HasPrefix(text, coded)
	for i := 0; i < len(text) && plain; i++ {
		plain = text[i] >= 0x20 && text[i] <= 0x7e
	}
	if plain {
		return text
	}
	return coded + base64.StdEncoding.EncodeToString([]byte(text)) + codedEnd
}
