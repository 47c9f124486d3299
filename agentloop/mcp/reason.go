package mcp

import (
	"errors"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/agentloop/mcp/internal/wire"
)

// reason says why a connection is over or a request failed, for people and models.
func (c *connection) reason(err error) string {
	var status *wire.StatusError
	var refused *wire.RefusedError
	switch {
	case errors.As(err, &status):
		return status.Error()
	case errors.As(err, &refused):
		return refused.Error()
	}
	text := ""
	if c.program != nil {
		text = c.programReason(err)
	}
	if text == "" && err != nil {
		text = plainText(err)
	}
	if text == "" || errors.Is(err, io.EOF) && c.program == nil {
		text = "the connection has ended"
	}
	return wire.Clip(c.server.withoutSecrets(text), 4000)
}

// programReason says why a program cannot be talked with: what it wrote that is no
// message, how it ended, and the end of its stderr.
func (c *connection) programReason(err error) string {
	var parts []string
	if broken := c.program.Failure(); broken != nil {
		parts = append(parts, "it "+broken.Error())
	} else if err != nil && !isEnd(err) {
		parts = append(parts, plainText(err))
	}
	select {
	case <-c.ended:
		if len(parts) == 0 {
			parts = append(parts, c.ending.Text)
		}
		if words := lastStderr(c.ending.Stderr); words != "" {
			parts = append(parts, "its last words: "+words)
		}
	default:
	}
	if line := c.program.FirstStrayLine(); line != "" && c.program.Failure() == nil {
		parts = append(parts, "it wrote to its stdout, where only messages may be: "+line)
	}
	return strings.Join(parts, "; ")
}

// isEnd reports whether err only says that the connection is over.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, sdk.ErrConnectionClosed) || strings.Contains(err.Error(), "connection closed") || strings.HasSuffix(err.Error(), "EOF")
}

// lastStderr returns the end of what a program wrote to stderr.
func lastStderr(stderr string) string {
	const most = 1000
	text := strings.TrimSpace(stderr)
	if len(text) > most {
		text = "… " + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}

// notSent is how the SDK marks a message that did not reach a server, as if it were an
// error of the protocol.
const notSent = "rejected by transport"

// refusal returns the error that a server answered with, nil if err is another one.
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
	if text := wire.WithoutAddress(err).Error(); strings.Contains(text, notSent+": ") {
		_, after, _ := strings.Cut(text, notSent+": ")
		return after
	}
	if strings.Contains(err.Error(), "unsupported protocol version") {
		return "it speaks another revision of MCP than hookd: " + wire.WithoutAddress(err).Error()
	}
	return wire.WithoutAddress(err).Error()
}

// remedy says what to do about a server that does not start.
func (c *connection) remedy(err error) string {
	var status *wire.StatusError
	if errors.As(err, &status) {
		return "a key goes into headers of agent.mcpServers." + c.server.Name + `, such as "Authorization": "Bearer …"`
	}
	if c.program != nil && c.program.FirstStrayLine() != "" {
		return "a server must write its banners to stderr"
	}
	return "look at command, args, env, url and headers of agent.mcpServers." + c.server.Name
}
