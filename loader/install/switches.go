package install

import (
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// Settings with which a person or an administrator keeps an agent from running hooks.

func isTrue(n *configtext.Node) bool  { return n.Kind == configtext.Bool && n.Text == "true" }
func isFalse(n *configtext.Node) bool { return n.Kind == configtext.Bool && n.Text == "false" }

// jsonFiles are the files of an agent in all scopes, and others besides.
func jsonFiles(agent string, others ...func(p Places) string) func(Places) []file {
	return func(p Places) (files []file) {
		for _, s := range Scopes {
			if s != Project || p.Project != "" {
				for _, f := range Find(agent).layout.files(p, s) {
					if f.format == configtext.JSON {
						files = append(files, f)
					}
				}
			}
		}
		for _, other := range others {
			files = append(files, file{path: other(p), format: configtext.JSON})
		}
		return files
	}
}

func managedFiles(agent string) func(Places) []file {
	return func(p Places) []file { return Find(agent).layout.files(p, Managed) }
}

func init() {
	local := func(p Places) string { return p.project(".claude/settings.local.json") }
	Find("claude").switches = []Switch{
		{Files: jsonFiles("claude", local), Path: configtext.Names("disableAllHooks"), Off: isTrue,
			Says: "disableAllHooks is true here", Remedy: "take disableAllHooks out of this file"},
		{Files: managedFiles("claude"), Path: configtext.Names("allowManagedHooksOnly"), Off: isTrue, Spares: Managed,
			Says: "the administrator allows managed hooks only", Remedy: "install it as administrator: hookd install claude --managed"},
	}
	codexConfig := func(p Places) (files []file) {
		files = append(files, file{path: p.home("CODEX_HOME", ".codex", "config.toml"), format: configtext.TOML})
		if p.Project != "" {
			files = append(files, file{path: p.project(".codex/config.toml"), format: configtext.TOML})
		}
		return append(files, codexPolicy(p)...)
	}
	Find("codex").switches = []Switch{
		{Files: codexConfig, Path: configtext.Names("features", "hooks"), Off: isFalse,
			Says: "features.hooks is false here", Remedy: "take features.hooks out of this file"},
		{Files: codexConfig, Path: configtext.Names("features", "codex_hooks"), Off: isFalse,
			Says: "features.codex_hooks is false here", Remedy: "take features.codex_hooks out of this file"},
		{Files: codexPolicy, Path: configtext.Names("allow_managed_hooks_only"), Off: isTrue, Spares: Managed,
			Says: "the administrator allows managed hooks only", Remedy: "install it as administrator: hookd install codex --managed"},
	}
	copilotSettings := func(p Places) string { return p.home("COPILOT_HOME", ".copilot", "settings.json") }
	Find("copilot").switches = []Switch{
		{Files: jsonFiles("copilot", copilotSettings), Path: configtext.Names("disableAllHooks"), Off: isTrue, Spares: Managed,
			Says: "disableAllHooks is true here", Remedy: "take disableAllHooks out of this file"},
		{Files: jsonFiles("copilot", copilotSettings), Path: configtext.Names("allowManagedHooksOnly"), Off: isTrue, Spares: Managed,
			Says: "the administrator allows managed hooks only", Remedy: "install it as administrator: hookd install copilot --managed"},
	}
	for _, name := range []string{"gemini", "qwen"} {
		Find(name).switches = []Switch{
			{Files: jsonFiles(name), Path: configtext.Names("hooksConfig", "enabled"), Off: isFalse,
				Says: "hooksConfig.enabled is false here", Remedy: "take hooksConfig.enabled out of this file"},
			{Files: jsonFiles(name), Path: configtext.Names("hooksConfig", "disabled"), Off: namesHookd,
				Says: "hooksConfig.disabled names hookd", Remedy: "take hookd out of hooksConfig.disabled"},
			{Files: jsonFiles(name), Path: configtext.Names("disableAllHooks"), Off: isTrue,
				Says: "disableAllHooks is true here", Remedy: "take disableAllHooks out of this file"},
		}
	}
}

func codexPolicy(p Places) []file {
	path := p.system("/etc/codex/requirements.toml", "/etc/codex/requirements.toml", "")
	if path == "" {
		return nil
	}
	return []file{{path: path, format: configtext.TOML}}
}

// namesHookd reports whether a list of hooks has one of ours in it.
func namesHookd(n *configtext.Node) bool {
	for _, item := range n.Items {
		if _, ours := ParseCommand(item.Text); ours || item.Text == "hookd" {
			return true
		}
	}
	return false
}
