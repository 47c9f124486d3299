package wire

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Refusal is the error that a server's answer stands for: its status, or an
// error object in an answer that is otherwise fine (status 200 then).
func (c *Client) Refusal(status int, header http.Header, contentType string, body []byte) *model.Error {
	said := readRefusal(body)
	if status/100 == 2 && said.status != 0 {
		status = said.status
	}
	failed := &model.Error{Status: status, RetryAfter: retryAfter(header, time.Now())}
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests, status >= 500:
		failed.Retryable = true
	}
	message := said.message
	switch {
	case message != "":
	case contentType == "text/html":
		message = "the server answered with a web page" + title(body) + "; is agent.baseUrl right?"
	case status/100 == 2:
		message = "the server answered with " + cmp.Or(contentType, "something") + " in place of a stream of events: " + string(body)
	default:
		message = cmp.Or(strings.TrimSpace(string(body)), http.StatusText(status), "no reason given")
	}
	if said.kind != "" && !strings.Contains(message, said.kind) {
		message += " (" + said.kind + ")"
	}
	message = c.withoutSecrets(message)
	if contextFull(status, said.kind, said.code, message) {
		failed.Retryable = false
		failed.Err = fmt.Errorf("%w (%s: %s)", model.ErrContextFull, c.options.Provider, text.Shorten(message, 500))
		return failed
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		if c.options.KeyName != "" {
			message = text.Shorten(message, 500) + "; is " + c.options.KeyName + " right?"
		}
	case http.StatusNotFound:
		if said.message == "" {
			break // a page says so already, and a server of models gives a reason
		}
		message = text.Shorten(message, 500) + "; is the name of the model right, and agent.baseUrl?"
	}
	failed.Err = errors.New(c.options.Provider + ": " + text.Shorten(message, 700))
	return failed
}

// refusal is what the error objects of the known servers say.
type refusal struct {
	message, kind, code string
	status              int
}

// readRefusal reads {"error":{"message","type","code"}} of Anthropic, OpenAI,
// llama.cpp and vLLM, {"error":"text"} of Ollama, {"object":"error","message"}
// of older vLLM and {"detail"} of FastAPI.
func readRefusal(body []byte) (r refusal) {
	var whole struct {
		Error   protocol.RawMessage `json:"error"`
		Message protocol.RawMessage `json:"message"`
		Detail  protocol.RawMessage `json:"detail"`
		Type    protocol.RawMessage `json:"type"`
		Code    protocol.RawMessage `json:"code"`
	}
	if json.Unmarshal(body, &whole, Loose) != nil {
		return r
	}
	if jsonspan.Kind(whole.Error) == '{' {
		inner := whole.Error
		whole.Type, whole.Code, whole.Message = nil, nil, nil
		if json.Unmarshal(inner, &whole, Loose) != nil {
			return r
		}
	}
	r.message = cmp.Or(plain(whole.Message), plain(whole.Detail))
	if jsonspan.Kind(whole.Error) == '"' {
		r.message = cmp.Or(plain(whole.Error), r.message)
	}
	r.kind, r.code = plain(whole.Type), plain(whole.Code)
	if r.kind == "error" {
		r.kind = ""
	}
	if n, err := strconv.Atoi(r.code); err == nil && n >= 400 && n < 600 {
		r.status = n
	} else {
		r.status = statusOf[r.kind]
	}
	return r
}

// statusOf gives an error that comes inside a stream the status that it would
// have had before it.
var statusOf = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "server_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// Loose reads JSON of servers that are not careful: unknown and repeated members
// and broken UTF-8 do no harm.
var Loose = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// plain is a string, or the text of any other value but null.
func plain(value protocol.RawMessage) string {
	switch jsonspan.Kind(value) {
	case '"':
		var s string
		if json.Unmarshal(value, &s, Loose) == nil {
			return s
		}
	case 0, 'n':
		return ""
	}
	return string(value)
}

var (
	fullKinds = []string{"context_length_exceeded", "exceed_context_size_error", "request_too_large", "model_context_window_exceeded"}
	fullTexts = once(`(?i)prompt is too long|(maximum|max) context length|context (size|length|window)( \S+){0,3} exceeded|exceeds?( \S+){0,4} context (size|length|window)|larger than the max(imum)? (supported )?context|input length and .{0,20}max_tokens.{0,20} exceed context|input token count( \S+){0,3} exceeds`)
)

// once compiles a pattern when it is first needed: most processes of this
// program never call a model, and start for every event of an agent.
func once(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// contextFull recognises the ways in which servers say that a request is too
// long for the model.
func contextFull(status int, kind, code, message string) bool {
	for _, known := range fullKinds {
		if kind == known || code == known {
			return true
		}
	}
	return (status/100 == 4 && status != http.StatusTooManyRequests || status/100 == 2 || status == http.StatusInternalServerError) && fullTexts().MatchString(message)
}

// maxWait bounds what a server may ask for; the caller decides whether that is too long.
const maxWait = 24 * time.Hour

// retryAfter reads retry-after-ms (milliseconds) or Retry-After (seconds or an
// HTTP date, RFC 9110 section 10.2.3).
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms / 1000)
	}
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(seconds)
	}
	if at, err := http.ParseTime(value); err == nil {
		return wait(at.Sub(now).Seconds())
	}
	return 0
}

func wait(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	return time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))
}

func (c *Client) withoutSecrets(said string) string { return text.Hide(said, c.options.Secrets) }

var titleTag = once(`(?is)<title[^>]*>([^<]{1,200})`)

func title(page []byte) string {
	if found := titleTag().FindSubmatch(page); found != nil {
		return " (" + strings.Join(strings.Fields(string(found[1])), " ") + ")"
	}
	return ""
}

// Decode reads a JSON value of a server that is not careful.
func Decode(value protocol.RawMessage, into any) error { return json.Unmarshal(value, into, Loose) }

// Unreadable is the error of a stream that does not say what it should.
func Unreadable(provider string, err error) *model.Error {
	if errors.Is(err, bufio.ErrTooLong) {
		return tooLong()
	}
	return &model.Error{Retryable: true, Err: fmt.Errorf("%s: the server sent an event that cannot be read: %s", provider, text.Shorten(err.Error(), 200))}
}
