package acpproxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

const setConfigOption = "session/set_config_option"

// modeLimit is how long an agent may take to change a session's mode.
const modeLimit = 30 * time.Second

// mostBacks bounds how often a session's mode is set back without a prompt in between.
const mostBacks = 5

// forced is how a session is kept in the mode that the person wants ([Options.Mode]).
type forced struct {
	on      bool
	config  string   // the option that is the mode, "" where session/set_mode sets it
	options []string // all options that are a mode
	setting bool     // it is being set back
	backs   int      // how often it was set back since the last prompt
	is      string   // the last mode that the agent told of while it is set back
}

// modes are the modes that an agent tells of a session, in either of the two ways.
type modes struct {
	ids     []string // of modes
	current string
	configs []protocol.RawMessage // options of the category mode
}

func modesOf(of protocol.RawMessage) (m modes) {
	for _, mode := range jsonspan.Elements(jsonspan.Find(of, "/modes/availableModes")) {
		m.ids = append(m.ids, jsonspan.Text(jsonspan.Get(mode, "id")))
	}
	m.current = jsonspan.Text(jsonspan.Find(of, "/modes/currentModeId"))
	for _, option := range jsonspan.Elements(jsonspan.Get(of, "configOptions")) {
		if isMode(option) {
			m.configs = append(m.configs, option)
		}
	}
	return m
}

func isMode(option protocol.RawMessage) bool {
	return jsonspan.Text(jsonspan.Get(option, "category")) == "mode" || jsonspan.Text(jsonspan.Get(option, "id")) == "mode"
}

// valuesOf are the values that an option can have, also where they are in groups.
func valuesOf(option protocol.RawMessage) (values []string) {
	for _, value := range jsonspan.Elements(jsonspan.Get(option, "options")) {
		if id := jsonspan.Get(value, "value"); id != nil {
			values = append(values, jsonspan.Text(id))
		}
		values = append(values, valuesOf(value)...)
	}
	return values
}

// force puts a session that was opened into the mode that the person wants, and returns the
// answer to the client with that mode in it.
func (s *session) force(m *relay.Message) ([]byte, error) {
	want := s.guard.options.Mode
	if want == "" {
		return m.Line, nil
	}
	told := modesOf(m.Result)
	how, set := forced{on: true}, told.current != want
	at := slices.IndexFunc(told.configs, func(option protocol.RawMessage) bool { return slices.Contains(valuesOf(option), want) })
	for _, option := range told.configs {
		how.options = append(how.options, jsonspan.Text(jsonspan.Get(option, "id")))
	}
	switch known := slices.Contains(told.ids, want); {
	case !known && at >= 0:
		how.config = how.options[at]
		set = jsonspan.Text(jsonspan.Get(told.configs[at], "currentValue")) != want
	case !known && (told.ids != nil || told.configs != nil):
		all := told.ids
		for _, option := range told.configs {
			all = append(all, valuesOf(option)...)
		}
		return nil, fmt.Errorf("the agent has no session mode %q (--mode), it has: %s", want, strings.Join(all, ", "))
	}
	s.mu.Lock()
	s.mode = how
	s.mu.Unlock()
	if set {
		if err := s.setMode(); err != nil {
			return nil, err
		}
	}
	return m.With("result", shownIn(m.Result, want, how.config)), nil
}

// setMode sets the mode that the person wants.
func (s *session) setMode() error {
	s.mu.Lock()
	how := s.mode
	s.mu.Unlock()
	method, params := acp.SessionSetMode, object(texts("sessionId", s.id), texts("modeId", s.guard.options.Mode))
	if how.config != "" {
		method, params = setConfigOption, object(texts("sessionId", s.id), texts("configId", how.config), texts("value", s.guard.options.Mode))
	}
	ctx, cancel := context.WithTimeoutCause(s.guard.life, modeLimit, errors.New("the agent did not answer in time"))
	defer cancel()
	answer, err := s.guard.await(ctx, relay.Server, method, params)
	if err == nil && answer.Error != nil {
		err = errors.New("the agent says: " + jsonspan.Text(jsonspan.Get(answer.Error, "message")))
	}
	if err == nil {
		if is := s.modeIn(answer.Result); is != "" && is != s.guard.options.Mode {
			err = fmt.Errorf("the agent stays in %q", is)
		}
	}
	if err != nil {
		return fmt.Errorf("the session cannot be put into the mode %q (--mode): %w", s.guard.options.Mode, err)
	}
	return nil
}

// shownIn is the answer to a client with the mode that the session is in now.
func shownIn(result protocol.RawMessage, mode, config string) protocol.RawMessage {
	if of := jsonspan.Get(result, "modes"); jsonspan.Kind(of) == '{' && config == "" {
		result = relay.Replace(result, "modes", relay.Replace(of, "currentModeId", jsonspan.Quote(mode)))
	}
	list := jsonspan.Get(result, "configOptions")
	if jsonspan.Kind(list) != '[' {
		return result
	}
	options := jsonspan.Elements(list)
	for i, option := range options {
		if isMode(option) && slices.Contains(valuesOf(option), mode) {
			options[i] = relay.Replace(option, "currentValue", jsonspan.Quote(mode))
		}
	}
	return relay.Replace(result, "configOptions", jsonspan.JoinList(options))
}

// setMode decides a request of the client to change the mode or an option of a session.
func (g *guard) setMode(m *relay.Message, r *request) (relay.Decision, error) {
	want := g.options.Mode
	if want == "" {
		return relay.PassIn(lane(m), m.Line), nil
	}
	p, err := readParams(m, "sessionId", "modeId", "configId", "value")
	if err != nil {
		return relay.Decision{}, err
	}
	to, id := p.text("modeId"), p.text("sessionId")
	r.Call.answered = func(answer *relay.Message) relay.Decision { // another option may have changed the mode
		if s := g.sessions.get(id); s != nil && answer.Result != nil {
			s.modeChanged(answer.Result)
		}
		return relay.PassIn(r.Call.lane, answer.Line)
	}
	if m.Method == setConfigOption {
		option := p.text("configId")
		known := option == "mode"
		if s := g.sessions.get(id); s != nil {
			s.mu.Lock()
			known = known || slices.Contains(s.mode.options, option)
			s.mu.Unlock()
		}
		if !known {
			return relay.PassIn(lane(m), p.line(m)), nil
		}
		to = p.text("value")
	}
	if to != want {
		return relay.Decision{}, fmt.Errorf("this session stays in the mode %q (hookd acp --mode)", want)
	}
	return relay.PassIn(lane(m), p.line(m)), nil
}

// modeIn returns the mode that an update or an answer says a session is in, "" if it says
// none.
func (s *session) modeIn(told protocol.RawMessage) string {
	s.mu.Lock()
	config := s.mode.config
	s.mu.Unlock()
	for _, option := range modesOf(told).configs {
		if config != "" && jsonspan.Text(jsonspan.Get(option, "id")) == config || slices.Contains(valuesOf(option), s.guard.options.Mode) {
			return jsonspan.Text(jsonspan.Get(option, "currentValue"))
		}
	}
	return jsonspan.Text(jsonspan.Get(told, "currentModeId"))
}

// modeChanged takes an update or an answer that may say which mode a session is in, and sets
// it back.
func (s *session) modeChanged(told protocol.RawMessage) {
	want, is := s.guard.options.Mode, s.modeIn(told)
	s.mu.Lock()
	known := s.mode.on && is != ""
	if known {
		s.mode.is = is
	}
	back := known && is != want && !s.mode.setting && s.start.refusing == ""
	s.mode.setting = s.mode.setting || back
	s.mu.Unlock()
	if !back {
		return
	}
	s.guard.options.note(fmt.Sprintf("the agent went into the mode %q: hookd sets it back to %q", is, want))
	s.guard.background.Go(func() {
		if err := s.setBack(); err != nil && s.guard.life.Err() == nil {
			s.leftMode(err)
		}
	})
}

// leftMode ends what goes on in a session that cannot be kept in its mode, and has it take no more
// prompts. The person is told once.
func (s *session) leftMode(err error) {
	s.mu.Lock()
	told := s.start.refusing != ""
	if !told {
		s.start.refusing = err.Error() + ": begin a new session"
	}
	s.mu.Unlock()
	if !told {
		s.guard.options.note(err.Error())
		s.cancelTurn(err.Error())
	}
}

// setBack sets the mode that the person wants, until the agent has told of no other one since.
func (s *session) setBack() error {
	want := s.guard.options.Mode
	for {
		s.mu.Lock()
		s.mode.setting = s.mode.is != want
		setting, tooOften := s.mode.setting, s.mode.backs >= mostBacks
		s.mode.is = want
		if setting {
			s.mode.backs++
		}
		s.mu.Unlock()
		if !setting {
			return nil
		}
		err := fmt.Errorf("the agent left the mode %q (--mode) after hookd had set it back %d times", want, mostBacks)
		if !tooOften {
			err = s.setMode()
		}
		if err != nil {
			s.mu.Lock()
			s.mode.setting = false
			s.mu.Unlock()
			return err
		}
	}
}
