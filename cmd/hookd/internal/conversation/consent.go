package conversation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema"
)

// allowFlag is --allow: words as in agent.approval.tools, separated by commas or given
// several times.
type allowFlag []toolname.Allowed

func (f *allowFlag) String() string {
	if f == nil {
		return ""
	}
	var words []string
	for _, a := range *f {
		words = append(words, a.Text)
	}
	return strings.Join(words, ",")
}

func (f *allowFlag) Type() string { return "string" }

func (f *allowFlag) Set(list string) error {
	if strings.TrimSpace(list) == "" {
		return cli.ErrEmptyValue
	}
	for _, word := range toolname.SplitAllowed(list) {
		a, err := toolname.ParseAllowed(word)
		if err != nil {
			return err
		}
		*f = append(*f, a)
	}
	return nil
}

// consent decides which tool calls need a person's yes although no hook asks.
type consent struct {
	flag, setting, most []toolname.Allowed
	standing            func() []toolname.Allowed // what the person allows for now; nil: nothing
	bounded             bool                      // the managed settings have a list, which the flag cannot exceed
	admits              func(command string) bool
	ours                []string // tools of the loop's own features, which touch nothing outside the session
}

// consent returns what the flag and the settings say.
func (o *opening) consent(flags *Flags, settings *schema.Settings) (*consent, error) {
	c := &consent{flag: flags.Allow, standing: flags.Host.Allows, bounded: settings.Agent.Bounded, admits: func(string) bool { return false }}
	var err error
	if c.setting, err = allowedTools(settings.Agent.Approval.Tools); err == nil {
		c.most, err = allowedTools(settings.Agent.AtMost)
	}
	bash := &settings.Agent.Tools.Bash
	if err == nil && switchedOn("bash", settings) {
		c.admits, err = builtin.BashPolicy{Deny: bash.Deny, Allow: bash.Allow}.Admits()
	}
	if err != nil {
		return nil, cli.Failed("settings", err, "hookd check shows what the settings say")
	}
	if c.bounded {
		for _, word := range c.flag {
			if !slices.Contains(settings.Agent.AtMost, word.Text) {
				o.console.Note("--allow "+word.Text+" counts only as far as the managed settings allow it (agent.approval.tools)", "")
			}
		}
	}
	return c, nil
}

func allowedTools(words []string) (list []toolname.Allowed, err error) {
	for _, word := range words {
		a, err := toolname.ParseAllowed(word)
		if err != nil {
			return nil, fmt.Errorf("agent.approval.tools: %w", err)
		}
		list = append(list, a)
	}
	return list, nil
}

// allowOwnTools lets the tools of the loop's own features run: what they do is in the
// session only.
func (c *consent) allowOwnTools(features []provider.Provider) {
	for i := range features {
		for _, t := range features[i].Tools {
			if d := t.Describe(); d.Kind == protocol.KindOther {
				c.ours = append(c.ours, d.Name)
			}
		}
	}
}

// asks reports whether a person is asked about a call, and if not, who allowed it
// beforehand. An unknown kind of tool asks. It does not count that a tool of a server
// calls itself harmless.
func (c *consent) asks(call *protocol.Call) (asks bool, allowed *protocol.Answered) {
	if call.Kind == protocol.KindRead || call.Kind == protocol.KindAgent || slices.Contains(c.ours, call.Name) {
		return false, nil
	}
	matches := func(list []toolname.Allowed) bool {
		return slices.ContainsFunc(list, func(a toolname.Allowed) bool { return a.Match(call.Name, call.Kind) })
	}
	switch {
	case matches(c.setting):
		return false, &protocol.Answered{By: protocol.BySetting, Name: "agent.approval.tools"}
	case matches(c.flag) && (!c.bounded || matches(c.most)):
		return false, &protocol.Answered{By: protocol.ByFlag, Name: "--allow"}
	case c.standing != nil && matches(c.standing()) && (!c.bounded || matches(c.most)):
		return false, &protocol.Answered{By: protocol.ByAlways}
	case call.Kind == protocol.KindShell && call.Server == "":
		var args struct {
			Command string `json:"command"`
		}
		if json.Unmarshal(call.Args, &args) == nil && c.admits(args.Command) {
			return false, &protocol.Answered{By: protocol.BySetting, Name: "agent.tools.bash.allow"}
		}
	}
	return true, nil
}

// remedy returns how a call can be allowed beforehand.
func (c *consent) remedy(call *protocol.Call) string {
	word := call.Name
	if call.Kind == protocol.KindWrite {
		word = string(call.Kind)
	}
	if c.bounded && !slices.ContainsFunc(c.most, func(a toolname.Allowed) bool { return a.Match(call.Name, call.Kind) }) {
		return "the managed settings (agent.approval.tools) leave it to a person at a terminal"
	}
	return fmt.Sprintf("hookd run --allow %s lets it run, or the setting agent.approval.tools", word)
}
