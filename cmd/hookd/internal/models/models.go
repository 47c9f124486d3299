package models

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/anthropic"
	"github.com/hookd-dev/hookd/agentloop/model/cassette"
	"github.com/hookd-dev/hookd/agentloop/model/openai"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/patterns"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/agentparts"
)

// Choice is what the flags of a command say of the model.
type Choice struct {
	Name   string // "": as the settings say
	record string // file that keeps the traffic, "" for none

	recorder *cassette.Recorder // that writes the file, once a model was chosen
}

func (m *Choice) AddFlags(c *cobra.Command) {
	cli.NameFlag(c.Flags(), &m.Name, "model", "", "model `M`: anthropic:NAME, openai:NAME, scripted:FILE, replay:FILE (default: the settings agent.provider and agent.model)")
	cli.NameFlag(c.Flags(), &m.record, "record", "", "keep what the model is asked and answers in the new `FILE`, for --model replay:FILE; it holds the conversation, no keys")
}

// Choose makes the model of a run, with a recording of its traffic if the flags ask for
// one. A recording goes on with the next model that is chosen.
func Choose(console *cli.Console, closers *cli.Closers, choice *Choice, settings *schema.Settings) (model.Model, error) {
	if err := checkFixed(choice.Name, settings); err != nil {
		return nil, err
	}
	m, note, err := pickModel(choice.Name, settings)
	if note != "" {
		console.Note(note, "they belong to the provider that the same settings file names (agent.provider, else agent.model, else openai)")
	}
	if err != nil || choice.record == "" {
		return m, err
	}
	if choice.recorder != nil {
		return recorded(choice.recorder.Follow(m), m), nil
	}
	recorder, err := cassette.Record(choice.record, m)
	if errors.Is(err, os.ErrExist) {
		return nil, cli.Usage("record", choice.record+" is there already, and is not overwritten", "remove it, or name another file")
	}
	if err != nil {
		return nil, cli.Usage("record", err.Error(), "")
	}
	choice.recorder = recorder
	closers.Add(func() error {
		if err := recorder.Close(); err != nil {
			return cli.DataLossError{Err: fmt.Errorf("the recording is not whole: %w", err)}
		}
		return nil
	})
	return recorded(recorder, m), nil
}

// recorded returns the recorder of a model, with the origin of the model.
func recorded(r *cassette.Recorder, m model.Model) model.Model {
	return model.WithOrigin(r, model.Origin(m))
}

// modelProvider makes a model of one kind.
type modelProvider struct {
	name string
	make func(name string, settings *schema.Settings) (model.Model, error)
}

var modelProviders = []modelProvider{
	{"anthropic", anthropicModel},
	{"openai", openaiModel},
	{"scripted", scriptedModel},
	{"replay", func(file string, _ *schema.Settings) (model.Model, error) { return replay(file, false) }},
	{"replay-loose", func(file string, _ *schema.Settings) (model.Model, error) { return replay(file, true) }},
}

// pickModel makes a model by its name, PROVIDER:NAME, or by the settings if the name is
// empty. The note says which of the settings are not used for it.
func pickModel(name string, settings *schema.Settings) (m model.Model, note string, err error) {
	by, rest, err := meant(name, settings)
	if err != nil {
		return nil, "", err
	}
	own, note := settingsFor(by, settings)
	i := slices.IndexFunc(modelProviders, func(p modelProvider) bool { return p.name == by.Name })
	m, err = modelProviders[i].make(rest, own)
	if err == nil {
		m, err = priced(m, settings.Agent.Prices)
	}
	if err != nil {
		return nil, note, err
	}
	return model.WithOrigin(m, by.Name+":"+rest), note, nil
}

// meant says which model a name means, or the settings if it is empty: who serves it, and its
// name there.
func meant(name string, settings *schema.Settings) (by *agentparts.ModelProvider, rest string, err error) {
	written := name == ""
	if written {
		name = settings.Agent.Model
	}
	if name == "" {
		return nil, "", cli.Usage("no-model", "no model is given", "--model anthropic:NAME or openai:NAME, or the setting agent.model; scripted:FILE plays a file of turns")
	}
	by, rest = agentparts.SplitModel(name, settings.Agent.Provider)
	switch {
	case by == nil:
		kind, _, _ := strings.Cut(name, ":")
		return nil, "", unknownProvider(name, cmp.Or(settings.Agent.Provider, kind))
	case rest == "":
		return nil, "", cli.Usage("no-model", "the model "+name+" has no name after the colon", "--model "+by.Name+":NAME")
	case by.FromFile && written:
		rest, err = playedFile(rest, settings)
	}
	return by, rest, err
}

// playedFile returns the path of a file that answers in the place of a model, as the
// settings name it. A relative path begins at the folder of those settings: the working
// directory belongs to the project, which must not choose who answers.
func playedFile(path string, settings *schema.Settings) (string, error) {
	if settings.Agent.ModelLayer == protocol.Project { // MergeSettings has left it out already
		return "", cli.Usage("no-model", "a project cannot have a file answer in the model's place", "--model names such a file")
	}
	if filepath.IsAbs(path) || settings.Agent.ModelFile == "" {
		return path, nil
	}
	return filepath.Join(filepath.Dir(settings.Agent.ModelFile), path), nil
}

// settingsFor returns the settings without the address and the headers of another
// provider: a key goes only to the provider that it is for.
func settingsFor(by *agentparts.ModelProvider, settings *schema.Settings) (own *schema.Settings, note string) {
	if by.FromFile {
		return settings, ""
	}
	copied := *settings
	var unused []string
	if agent := &copied.Agent; agent.BaseURL != "" && agent.BaseURLFor != by.Name {
		unused = append(unused, "agent.baseUrl is for "+agent.BaseURLFor)
		agent.BaseURL = ""
	}
	if agent := &copied.Agent; len(agent.Headers) > 0 && agent.HeadersFor != by.Name {
		unused = append(unused, "agent.headers are for "+agent.HeadersFor)
		agent.Headers = nil
	}
	if len(unused) > 0 {
		note = strings.Join(unused, ", ") + ": not used for a model of " + by.Name
	}
	return &copied, note
}

// priced returns a model that says what its calls cost, by the table of the settings.
func priced(m model.Model, table []schema.Price) (model.Model, error) {
	prices := make([]model.Price, len(table))
	for i, p := range table {
		pattern, err := patterns.Parse(p.Model)
		if err != nil {
			return nil, cli.Failed("settings", fmt.Errorf("agent.prices[%d]: %w", i, err), "hookd check shows what the settings say")
		}
		prices[i] = model.Price{Model: pattern, Input: p.InputPerMTok, Output: p.OutputPerMTok, Cached: p.CachedPerMTok}
	}
	return model.Priced(m, prices), nil
}

// unknownProvider returns the fault of a name without a known provider, and says which
// may be meant.
func unknownProvider(name, kind string) error {
	known := make([]string, len(modelProviders))
	for i, p := range modelProviders {
		known[i] = p.name
	}
	hint := "known providers: " + strings.Join(known, ", ")
	switch near, maker := text.Nearest(kind, known), makerOf(name); {
	case maker != "":
		hint = "--model " + maker + ":" + name
	case near != "" && kind != name:
		hint = "do you mean " + near + strings.TrimPrefix(name, kind) + "? " + hint
	case kind != name:
		hint += "; a server with the interface of OpenAI: --model openai:" + name + " and the setting agent.baseUrl"
	}
	if kind == name {
		return cli.Usage("unknown-model", "no provider is given for the model "+name, hint)
	}
	return cli.Usage("unknown-model", "there is no model provider "+kind, hint)
}

func scriptedModel(file string, _ *schema.Settings) (model.Model, error) {
	m, err := model.Load(file)
	if err != nil {
		return nil, cli.Usage("bad-script", err.Error(), "hookd examples FOLDER writes scripts to look at: project/agent.yaml")
	}
	return m, nil
}

// replay plays a recording. A loose one answers in the recorded order, whatever it is
// asked.
func replay(file string, loose bool) (model.Model, error) {
	m, err := cassette.Replay(file, cassette.Options{Loose: loose})
	if err != nil {
		return nil, cli.Usage("bad-cassette", err.Error(), "hookd run --record FILE makes one")
	}
	return m, nil
}

func anthropicModel(name string, settings *schema.Settings) (model.Model, error) {
	key, headers, err := credentials(settings, anthropic.KeyName, anthropic.BaseURL)
	if err != nil {
		return nil, err
	}
	m, err := anthropic.New(anthropic.Options{Model: name, BaseURL: settings.Agent.BaseURL, Key: key, Headers: headers})
	if err != nil {
		return nil, cli.Usage("bad-model", err.Error(), "the setting agent.baseUrl, for example "+anthropic.BaseURL)
	}
	return m, nil
}

func openaiModel(name string, settings *schema.Settings) (model.Model, error) {
	key, headers, err := credentials(settings, openai.KeyName, openai.BaseURL)
	if err != nil {
		return nil, err
	}
	m, err := openai.New(openai.Options{Model: name, BaseURL: settings.Agent.BaseURL, Key: key, Headers: headers})
	if err != nil {
		return nil, cli.Usage("bad-model", err.Error(), "the setting agent.baseUrl, for example http://127.0.0.1:11434/v1")
	}
	return m, nil
}

// credentials returns what a provider authenticates us by: the key, which only the
// environment holds, and the headers of the settings. At the address of the provider
// itself one of them is needed; other servers say what they want.
func credentials(settings *schema.Settings, variable, address string) (key string, headers http.Header, err error) {
	if headers, err = modelHeaders(settings); err != nil {
		return "", nil, err
	}
	key = strings.TrimSpace(os.Getenv(variable))
	own := cmp.Or(strings.TrimRight(settings.Agent.BaseURL, "/"), address) == address
	if own && key == "" && headers.Get("Authorization") == "" && headers.Get("X-Api-Key") == "" {
		return "", nil, cli.Usage("no-key", "no key for this model: "+variable+" is not set", "set "+variable+" in the environment; a server of your own needs none: the setting agent.baseUrl says where it is")
	}
	return key, headers, nil
}

// modelHeaders returns the headers that the settings add to each request.
func modelHeaders(settings *schema.Settings) (http.Header, error) {
	header := http.Header{}
	for i, line := range settings.Agent.Headers {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n") || strings.ContainsAny(value, "\r\n\x00") {
			// The line may hold a secret, and is not repeated.
			return nil, cli.Usage("bad-headers", fmt.Sprintf("agent.headers: line %d is not of the form Name: value", i+1), "")
		}
		header.Add(name, value)
	}
	return header, nil
}
