package conversation

import (
	"os"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// loopOptions returns the options of a loop that follows the settings. It changes the
// settings, which are a copy for the caller: it takes out what has no effect.
func (o *opening) loopOptions(e *engine.Engine, settings *schema.Settings, m model.Model, session *store.Session, flags *Flags) (agentloop.Options, error) {
	answer, err := flags.answerSchema()
	if err != nil {
		return agentloop.Options{}, err
	}
	recipes := o.recipeLibrary(e)
	o.limitCompaction(recipes, settings)
	root := e.Root
	folder := fileToolsFolder(e)
	folder.Editor, folder.Also = flags.Host.Editor, flags.Host.Folders
	consent, err := o.consent(flags, settings)
	if err != nil {
		return agentloop.Options{}, err
	}
	features, err := Features(&featureInput{
		Settings: settings, root: root, guarded: []string{".acai", e.StateDir}, folder: folder, answer: answer,
		skills: skillsFrom(snapshotOf(e)), told: instructionsFrom(snapshotOf(e)),
	})
	if err != nil {
		return agentloop.Options{}, err
	}
	bash := tool.BashOptions{
		Project: root, Timeout: settings.Agent.Tools.Bash.Timeout, Output: settings.Agent.Tools.Bash.Output,
		// The very list that hooks get (docs/environment.md). It carries the mark of
		// an agent run: nothing that the agent starts can grant trust, and an agent
		// in an agent is counted.
		Env:    hookenv.Allowed(hookenv.Config{Environ: os.Environ(), Project: root, Names: settings.Agent.Tools.Env}),
		Runner: containedRunner{o.hooks.Processes.Runtime()}, // open made it
	}
	if wrap := flags.Host.Commands; wrap != nil {
		bash.Runner = wrap(bash.Runner)
	}
	consent.allowOwnTools(features)
	if hooks := flags.Host.Hooks; len(hooks) > 0 {
		features = append(features, provider.Provider{Name: "client", Hooks: hooks})
	}
	var sources []tool.Source
	o.addServers(e, o.mcpServers(e, settings, o.hostServers(settings, flags.Host.Servers, bash.Env), flags.Host.Folders), &sources, &features)
	hooks, compaction := settings.Hooks, settings.Agent.Compaction
	return agentloop.Options{
		Gate:      e.Executor(),
		Model:     m,
		Tools:     append(tool.Files(folder), tool.Bash(bash)),
		Sources:   sources,
		Session:   session,
		System:    flags.System,
		Providers: features, NoDefaults: true, // the settings say which there are
		Recipes: recipes,
		Project: o.project,
		Cwd:     root,
		Agent:   protocol.Agent{ID: "main", Depth: hookenv.ProcessDepth(), Host: "hookd"},
		Compaction: agentloop.Compaction{
			Compaction: protocol.Compaction{Auto: compaction.Auto, Threshold: compaction.Threshold},
			KeepFirst:  compaction.KeepFirst, KeepLast: compaction.KeepLast,
		},
		Consent:         agentloop.Consent{Asks: consent.asks, Remedy: consent.remedy},
		ApprovalTimeout: settings.Agent.Approval.Timeout,
		Limits: agentloop.Limits{
			ToolCalls: settings.Agent.Limits.ToolCalls,
			Forced:    noneIfZero(hooks.MaxForced), ForcedTotal: noneIfZero(hooks.MaxForcedTotal),
			ForcedOf: e.ForcedOf,
			Depth:    noneIfZero(settings.Agent.Subagents.Depth),
		},
		OnToolBlock: hooks.OnToolBlock,
	}, nil
}

// noneIfZero turns a setting where 0 means none into an option of the loop, where 0 means
// the default.
func noneIfZero(n int) int {
	if n == 0 {
		return -1
	}
	return n
}
