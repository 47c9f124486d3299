package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/internal/wire"
)

// BaseURL is where OpenAI serves.
const BaseURL = "https://api.openai.com/v1"

// KeyName is the environment variable that holds the key, for messages.
const KeyName = "OPENAI_API_KEY"

// Options say which model is asked, and where.
type Options struct {
	Model   string
	BaseURL string // "": [BaseURL]. It usually ends in /v1
	// Key is sent as a bearer token; "" sends none. Over plain http it is sent to
	// this machine only.
	Key     string
	Headers http.Header // sent too; they replace the model's own
	// FirstByte and Idle limit the silence of the server: before its answer (0: 10
	// minutes) and in the middle of it (0: 3 minutes).
	FirstByte, Idle time.Duration
}

// Model is one model of one server.
type Model struct {
	options Options
	url     *url.URL
	client  *wire.Client
}

// New returns a model. It connects on the first call.
func New(options Options) (*Model, error) {
	if options.Model == "" {
		return nil, errors.New("openai: no model is named")
	}
	base := options.BaseURL
	if base == "" {
		base = BaseURL
	}
	address, err := wire.Address(base, "chat/completions")
	if err != nil {
		return nil, fmt.Errorf("openai: base URL: %w", err)
	}
	if !wire.MayCarryKey(address) {
		options.Key = ""
	}
	return &Model{options: options, url: address, client: wire.NewClient(wire.Options{
		Provider: "openai", KeyName: KeyName, Headers: options.Headers, Secrets: []string{options.Key},
		FirstByte: options.FirstByte, Idle: options.Idle,
	})}, nil
}

// Name is the model's name, as the server knows it.
func (m *Model) Name() string { return m.options.Model }

// Generate asks the model.
func (m *Model) Generate(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if err := m.generate(ctx, request, yield); err != nil {
			yield(model.Chunk{}, err)
		}
	}
}

// generate returns why the stream failed, nil if it did not, or if nobody reads
// on.
func (m *Model) generate(ctx context.Context, request model.Request, yield func(model.Chunk, error) bool) error {
	body, err := m.body(request)
	if err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("openai: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if m.options.Key != "" {
		r.Header.Set("Authorization", "Bearer "+m.options.Key)
	}
	response, err := m.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	a := responseReader{model: m, contextMax: model.ContextMax(windows, request.Model)}
	return a.read(response, yield)
}

// forOpenAI reports whether the server is OpenAI's own, or Azure's.
func (m *Model) forOpenAI() bool {
	host := m.url.Hostname()
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") || strings.HasSuffix(host, ".openai.azure.com")
}

// windows are the context windows of OpenAI's models. Of a server's own model
// only the server knows.
var windows = []model.Window{
	{Prefix: "gpt-5.4", Tokens: 1_050_000}, {Prefix: "gpt-5", Tokens: 400_000}, {Prefix: "gpt-5-chat", Tokens: 128_000},
	{Prefix: "gpt-4.1", Tokens: 1_047_576}, {Prefix: "gpt-4o", Tokens: 128_000}, {Prefix: "gpt-4-turbo", Tokens: 128_000},
	{Prefix: "gpt-3.5-turbo", Tokens: 16_385},
	{Prefix: "o1", Tokens: 200_000}, {Prefix: "o1-mini", Tokens: 128_000}, {Prefix: "o3", Tokens: 200_000}, {Prefix: "o4-mini", Tokens: 200_000},
}

var _ model.Model = (*Model)(nil)
