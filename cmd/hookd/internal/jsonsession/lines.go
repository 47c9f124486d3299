package jsonsession

import (
	"sync"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/protocol"
)

// The lines that a program reads besides those of a run.
type (
	sessionOpened struct {
		Kind       string `json:"kind"` // session
		ID         string `json:"id"`
		Transcript string `json:"transcript"`
		Project    string `json:"project"`
		Model      string `json:"model"`
		Messages   int    `json:"messages"` // that the conversation holds already
	}
	questionLine struct {
		Kind    string                      `json:"kind"` // question
		ID      string                      `json:"id"`
		Event   protocol.EventName          `json:"event"`
		AskedBy string                      `json:"askedBy"`
		Text    string                      `json:"text"`
		Call    *protocol.Call              `json:"call"` // whole, as it will run
		Options []protocol.PermissionOption `json:"options"`
		Layer   protocol.Layer              `json:"askedByLayer,omitzero"` // of the hook that asks
	}
	withdrawnLine struct {
		Kind string `json:"kind"` // withdrawn
		ID   string `json:"id"`
	}
	errorLine struct {
		Kind    string `json:"kind"` // error
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitzero"`
		Line    int    `json:"line"` // of the input, from 1
	}
)

// lines lets several goroutines write lines.
type lines struct {
	mu    sync.Mutex
	lines runview.Lines
}

func (l *lines) line(value any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Line(value)
}

func (l *lines) See(y agentloop.Update) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.See(y)
}
