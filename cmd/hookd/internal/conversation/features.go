package conversation

import (
	"bytes"
	"fmt"
	"os"
	"slices"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/instruction"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/skill"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/agentparts"
)

// featureInput is what the loop's features are made of.
type featureInput struct {
	*schema.Settings
	root    string // the project root, or the working directory
	skills  func() []skill.File
	told    func() []instruction.File // instructions; nil: none
	answer  []byte                    // JSON Schema of the final answer, nil for none
	guarded []string                  // paths of hooks, settings and records, which commands should not name
	folder  tool.Folder
}

// feature is one built-in of the loop, by its name in agentparts.Features. make returns
// nil if the settings give it nothing to do. off, if there is one, makes what takes its
// place when it is switched off.
type feature struct {
	name string
	make func(*featureInput) (*provider.Provider, error)
	off  func(*featureInput) (*provider.Provider, error)
}

// features is the table of the loop's built-ins. Adding one is a row here and a
// row in agentparts.Features.
var features = []feature{
	{name: "steps", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.Steps(in.Agent.Limits.Steps))
	}},
	{name: "tokens", make: func(in *featureInput) (*provider.Provider, error) {
		if in.Agent.Limits.Tokens == 0 {
			return nil, nil
		}
		return made(builtin.Tokens(in.Agent.Limits.Tokens))
	}},
	{name: "time", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.Time(in.Agent.Limits.Time))
	}},
	{name: "retries", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.Retries(in.Agent.Limits.Retries))
	}},
	{name: "compact", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.Compact(in.Agent.Compaction.Recipe))
	}},
	{name: "subagents", make: func(*featureInput) (*provider.Provider, error) { return made(builtin.SubAgents()) }},
	{
		name: "done",
		make: func(*featureInput) (*provider.Provider, error) { return made(builtin.Done()) },
		off:  func(*featureInput) (*provider.Provider, error) { return made(builtin.GoOn()) },
	},
	{name: "instructions", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.Instructions(builtin.InstructionOptions{Files: in.told, Limit: in.Agent.Instructions.Limit, Folder: in.root}))
	}},
	{name: "skills", make: func(in *featureInput) (*provider.Provider, error) {
		if in.skills == nil {
			return nil, nil
		}
		return made(builtin.SkillsOf(in.skills))
	}},
	{name: "tasks", make: func(*featureInput) (*provider.Provider, error) { return made(builtin.Tasks()) }},
	{name: "summarize", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.Summarize(in.Agent.Summarize.Tokens))
	}},
	{name: "self-critique", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.SelfCritique(in.Agent.SelfCritique.Rounds))
	}},
	{name: "budget", make: func(in *featureInput) (*provider.Provider, error) {
		limits := builtin.BudgetLimits{Cost: in.Agent.Limits.Cost, Tokens: in.Agent.Limits.TotalTokens}
		if limits == (builtin.BudgetLimits{}) {
			return nil, nil
		}
		return made(builtin.Budget(limits))
	}},
	{name: "metadata", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.Metadata(in.Hooks.Limits.Metadata))
	}},
	{name: "structured", make: func(in *featureInput) (*provider.Provider, error) {
		if len(in.answer) == 0 {
			return nil, nil
		}
		p, err := builtin.Structured(builtin.StructuredOptions{
			Schema: in.answer, Forced: noneIfZero(in.Hooks.MaxForced), ForcedTotal: noneIfZero(in.Hooks.MaxForcedTotal),
		})
		return &p, err
	}},
	{name: "bash", make: func(in *featureInput) (*provider.Provider, error) {
		bash := &in.Agent.Tools.Bash
		p, err := builtin.Bash(builtin.BashPolicy{Deny: bash.Deny, Allow: bash.Allow, Layer: bash.Layer, Report: in.guarded, Mentions: in.folder.Mentions})
		return &p, err
	}},
	{name: "approval", make: func(in *featureInput) (*provider.Provider, error) {
		return made(builtin.Approval(builtin.ApprovalMode{Mode: in.Agent.Approval.Mode, Layer: in.Agent.Approval.ModeLayer}))
	}},
}

func made(p provider.Provider) (*provider.Provider, error) { return &p, nil }

// Features returns the features of the loop that the settings switch on.
func Features(in *featureInput) ([]provider.Provider, error) {
	list := []provider.Provider{} // without any the loop must not take its own defaults
	for _, f := range features {
		build := f.make
		if !switchedOn(f.name, in.Settings) {
			build = f.off
		}
		if build == nil {
			continue
		}
		p, err := build(in)
		if err != nil {
			if agentparts.FeatureByName(f.name).Flag != "" {
				return nil, cli.Usage("usage", err.Error(), "--schema takes a file with a JSON Schema")
			}
			return nil, cli.Failed("settings", fmt.Errorf("the feature %s: %w", f.name, err), "hookd check shows what the settings say")
		}
		if p != nil {
			list = append(list, *p)
		}
	}
	return list, nil
}

// switchedOn reports whether the settings want a feature. A feature that some setting
// switches off stays off.
func switchedOn(name string, settings *schema.Settings) bool {
	row := agentparts.FeatureByName(name)
	if row.Flag != "" {
		return true // what a person asks for on the command line no file switches off
	}
	wanted := row.On || slices.Contains(settings.Agent.Features, name)
	return wanted && !slices.Contains(settings.Agent.ProvidersOff, name)
}

// answerSchema returns the JSON Schema of the final answer, nil for none.
func (f *Flags) answerSchema() ([]byte, error) {
	if f.Schema == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.Schema)
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = fmt.Errorf("%s is empty", f.Schema)
	}
	if err != nil {
		return nil, cli.Usage("usage", "the JSON Schema cannot be read: "+err.Error(), "--schema takes a file with a JSON Schema")
	}
	return text, nil
}

// BuiltinHooks returns the hooks of the features that a run would have with the settings
// as they stand.
func BuiltinHooks(s *loader.Snapshot) ([]protocol.GoHook, error) {
	features, err := Features(&featureInput{Settings: &s.Set.Settings, root: s.Set.Project, skills: skillsFrom(func() *loader.Snapshot { return s })})
	if err != nil {
		return nil, err
	}
	var hooks []protocol.GoHook
	for _, f := range features {
		hooks = append(hooks, f.Hooks...)
	}
	return hooks, nil
}
