package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/internal/wire"
)

// BaseURL is where Anthropic serves.
const BaseURL = "https://api.anthropic.com"

// KeyName is the environment variable that holds the key, for messages.
const KeyName = "ANTHROPIC_API_KEY"

// Provider is what the opaque parts of this model name: reasoning with its
// signature, which only this provider can read.
const Provider = "anthropic"

// Options say which model is asked, and where.
type Options struct {
	Model   string
	BaseURL string // "": [BaseURL]. A /v1 at its end may be there or not
	// Key is sent in the way of the SDK; "" sends none. Over plain http it is sent to this
	// machine only.
	Key     string
	Headers http.Header // sent too; they replace the model's own
	// FirstByte and Idle limit the silence of the server: before its answer (0: 10
	// minutes) and in the middle of it (0: 3 minutes).
	FirstByte, Idle time.Duration
}

// Model is one model of one server.
type Model struct {
	name   string
	client *wire.Client
	sdk    func() sdk.MessageService // made on the first call
}

// New returns a model. It connects on the first call.
func New(options Options) (*Model, error) {
	if options.Model == "" {
		return nil, errors.New("anthropic: no model is named")
	}
	base := strings.TrimRight(options.BaseURL, "/")
	if base == "" {
		base = BaseURL
	}
	address, err := wire.Address(strings.TrimSuffix(base, "/v1"), "")
	if err != nil {
		return nil, fmt.Errorf("anthropic: base URL: %w", err)
	}
	if !wire.MayCarryKey(address) {
		options.Key = ""
	}
	m := &Model{name: options.Model, client: wire.NewClient(wire.Options{
		Provider: Provider, KeyName: KeyName, Headers: options.Headers, Secrets: []string{options.Key},
		FirstByte: options.FirstByte, Idle: options.Idle,
	})}
	// Of the SDK only this service: the whole client would make the program twice
	// as large, and would read variables of the environment that say where a
	// conversation goes.
	m.sdk = sync.OnceValue(func() sdk.MessageService {
		with := []option.RequestOption{
			option.WithoutOpenTelemetry(), option.WithBaseURL(address.String()), option.WithHTTPClient(m.client),
			option.WithMaxRetries(0), // the loop tries again, with hooks asked each time
		}
		if options.Key != "" {
			with = append(with, option.WithAPIKey(options.Key))
		}
		return sdk.NewMessageService(with...)
	})
	return m, nil
}

// Name is the model's name, as the server knows it.
func (m *Model) Name() string { return m.name }

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
	if request.Model == "" {
		request.Model = m.name
	}
	params, err := convert(request)
	if err != nil {
		return fmt.Errorf("anthropic: %w", err)
	}
	messages := m.sdk()
	var response *http.Response
	// The SDK sends the request. We read the stream ourselves: the SDK passes
	// over events without a name, and over what is missing.
	stream := messages.NewStreaming(ctx, params, option.WithResponseInto(&response))
	defer stream.Close()
	a := responseReader{model: m, contextMax: model.ContextMax(windows, request.Model)}
	if err = stream.Err(); err == nil {
		err = a.read(response.Body, yield)
	}
	if ctx.Err() != nil && err != nil && !a.done {
		return context.Cause(ctx)
	}
	if known := new(model.Error); err == nil || errors.As(err, &known) {
		return err
	}
	return wire.Unreadable(Provider, err)
}

const million = 1_000_000

// windows are the context windows of the models; the table in Anthropic's
// documentation of the models.
var windows = []model.Window{
	{Prefix: "claude-", Tokens: 200_000},
	{Prefix: "claude-opus-4-6", Tokens: million}, {Prefix: "claude-opus-4-7", Tokens: million}, {Prefix: "claude-opus-4-8", Tokens: million},
	{Prefix: "claude-opus-5", Tokens: million}, {Prefix: "claude-sonnet-4-6", Tokens: million}, {Prefix: "claude-sonnet-5", Tokens: million},
	{Prefix: "claude-fable-", Tokens: million}, {Prefix: "claude-mythos-", Tokens: million},
}

// outputs are the output tokens that a call may have where params do not say:
// the interface wants a number, and refuses one that is over the model's limit.
var outputs = []model.Window{
	{Prefix: "", Tokens: 8192}, {Prefix: "claude-", Tokens: 32_000},
	{Prefix: "claude-3", Tokens: 4096}, {Prefix: "claude-3-5", Tokens: 8192}, {Prefix: "claude-3-7", Tokens: 32_000},
}

var _ model.Model = (*Model)(nil)
