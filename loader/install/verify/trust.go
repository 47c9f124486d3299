package verify

import (
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// untrustedFolder finds installations of a project in which the agent does not trust the
// folder, so that it runs none of its hooks.
func untrustedFolder(s *subject) []finding {
	p := s.verifier.Installer.Places
	if s.installed.Scope != install.Project || p.Project == "" {
		return nil
	}
	switch s.agent.Name {
	case "gemini":
		return s.trustedFolders(s.homePath("", ".gemini", "trustedFolders.json"), s.homePath("", ".gemini", "settings.json"), "GEMINI_CLI_TRUST_WORKSPACE")
	case "qwen":
		return s.trustedFolders(s.homePath("", ".qwen", "trustedFolders.json"), s.homePath("", ".qwen", "settings.json"), "")
	case "codex":
		path := s.homePath("CODEX_HOME", ".codex", "config.toml")
		level := ""
		if root := parse(path); root != nil {
			level = textOf(root.Get("projects").Get(p.Project).Get("trust_level"))
		}
		if level != "trusted" {
			return []finding{s.fault(path, 0, "start codex in "+p.Project+" and trust the folder", "Codex does not trust the folder %s, so that it runs none of its hooks", p.Project)}
		}
	case "claude":
		path := filepath.Join(p.Home, ".claude.json")
		root := parse(path)
		if root == nil {
			return []finding{s.doubtful(path, 0, "start claude in "+p.Project+" and trust the folder", "whether Claude Code trusts the folder %s cannot be said", p.Project)}
		}
		for dir := p.Project; ; dir = filepath.Dir(dir) {
			if isSet(root.Get("projects").Get(dir).Get("hasTrustDialogAccepted")) {
				return nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
		return []finding{s.fault(path, 0, "start claude in "+p.Project+" and trust the folder", "Claude Code does not trust the folder %s yet: except with -p it runs none of its hooks", p.Project)}
	}
	return nil
}

// trustedFolders judges the list of trusted folders of Gemini CLI and its descendants.
func (s *subject) trustedFolders(list, settings, variable string) []finding {
	p := s.verifier.Installer.Places
	if root := parse(settings); root == nil || !isSet(root.Find(configtext.Names("security", "folderTrust", "enabled"))) {
		return nil // the agent does not ask
	}
	if variable != "" && p.Getenv != nil && p.Getenv(variable) == "true" {
		return nil
	}
	best, rule := "", ""
	if root := parse(list); root != nil {
		for _, m := range root.Members {
			dir := filepath.Clean(m.Name)
			if textOf(m.Value) == "TRUST_PARENT" {
				dir = filepath.Dir(dir)
			}
			if dir == p.Project || strings.HasPrefix(p.Project, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator)) {
				if len(dir) >= len(best) {
					best, rule = dir, textOf(m.Value)
				}
			}
		}
	}
	if strings.HasPrefix(rule, "TRUST_") {
		return nil
	}
	return []finding{s.fault(list, 0, "start "+s.agent.Programs[0]+" in "+p.Project+" and trust the folder", "%s does not trust the folder %s, so that it runs none of its hooks", s.agent.Title, p.Project)}
}
