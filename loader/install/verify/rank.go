package verify

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// anyTool are matchers that match everything.
var anyTool = []string{"", "*", ".*", "^.*$", "@builtin|@mcp"}

// matchers finds entries of ours that are asked for some tools only, or for none.
func matchers(s *subject) (found []finding) {
	for _, h := range s.ours() {
		if condition := textOf(h.member("if")); condition != "" {
			found = append(found, s.doubtful(h.file, h.line, s.again(), "hookd is asked at %s only if %s", h.event, condition))
		}
		matcher := textOf(h.member("matcher"))
		if slices.Contains(anyTool, matcher) || !s.isToolEvent(h.event) {
			continue
		}
		names, err := s.matched(matcher)
		switch {
		case err != nil:
			found = append(found, s.fault(h.file, h.line, s.again(), "the matcher %q of hookd's entry for %s is no regular expression: %v", matcher, h.event, err))
		case len(names) == 0:
			found = append(found, s.fault(h.file, h.line, s.again(), "the matcher %q of hookd's entry for %s never matches: %s has no such tool", matcher, h.event, s.agent.Title))
		default:
			found = append(found, s.doubtful(h.file, h.line, s.again(), "hookd is asked at %s for %s only: the matcher is %q", h.event, text.Shorten(strings.Join(names, ", "), 100), matcher))
		}
	}
	return found
}

// isToolEvent reports whether an event of the agent is about a tool call.
func (s *subject) isToolEvent(event string) bool {
	r := s.agent.Dialect.Row(event)
	return r != nil && strings.HasPrefix(string(r.Event), "tool-call") || r != nil && r.Event == "permission-request"
}

// plainMatcher is a matcher that most agents take for a list of whole names.
var plainMatcher = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_ ,|-]*$`) })

// takesPatterns are the agents that take every matcher for a regular expression.
var takesPatterns = []string{"gemini", "cursor", "goose", "crush"}

// matched returns the tools of the agent that a matcher matches. One tool of an MCP server
// stands for all.
func (s *subject) matched(matcher string) (names []string, err error) {
	re, err := regexp.Compile(matcher)
	if err != nil {
		return nil, err
	}
	matches := re.MatchString
	if plainMatcher().MatchString(matcher) && !slices.Contains(takesPatterns, s.agent.Name) {
		whole := strings.FieldsFunc(matcher, func(r rune) bool { return r == '|' || r == ',' || r == ' ' })
		matches = func(name string) bool { return slices.Contains(whole, name) }
	}
	for _, tool := range append([]toolname.Tool{{Name: "mcp__server__tool", Of: s.agent.Name}}, toolname.Vocabulary...) {
		if slices.Contains(strings.Fields(tool.Of), s.agent.Name) && matches(tool.Name) {
			names = append(names, tool.Name)
		}
	}
	return names, nil
}

// background finds entries of ours for whose answer the agent does not wait, or that it
// has switched off.
func background(s *subject) (found []finding) {
	for _, h := range s.ours() {
		switch {
		case isSet(h.member("async")) || isSet(h.member("asyncRewake")):
			found = append(found, s.fault(h.file, h.line, s.again(), "%s does not wait for hookd at %s (async): it refuses nothing", s.agent.Title, h.event))
		case isUnset(h.member("enabled")) || isSet(h.member("disabled")):
			found = append(found, s.fault(h.file, h.line, "switch the entry on again, or run "+s.again(), "the entry of hookd for %s is switched off", h.event))
		}
	}
	return found
}

// allows are the words by which a hook allows a call.
var allows = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"?(?:permissionDecision|decision|permission|behavior)\\?"?\s*[:=]\s*\\?["']?(?:allow|approve)`)
})

// allowsFirst finds hooks that are asked before ours where the first answer counts.
func allowsFirst(s *subject) (found []finding) {
	first := map[string]hook{}
	for _, h := range s.hooks {
		if !h.ours && s.gate(h.event) {
			if _, known := first[h.event]; !known {
				first[h.event] = h
			}
			continue
		}
		other, before := first[h.event]
		switch {
		case !h.ours || !before:
		case allows().MatchString(other.command) || allows().MatchString(scriptOf(other.command)):
			found = append(found, s.fault(other.file, other.line, "move the entry of hookd before it", "at %s another hook answers before hookd, and it allows: %s", h.event, text.Shorten(plainText(other.command), 80)))
		default:
			found = append(found, s.doubtful(other.file, other.line, "move the entry of hookd before it", "at %s another hook answers before hookd, and the first answer counts in %s: %s", h.event, s.agent.Title, text.Shorten(plainText(other.command), 80)))
		}
	}
	return found
}

// maxScript is how much of another hook's script is read.
const maxScript = 64 << 10

// scriptOf returns the text of the script that a command starts, "" if it is none.
func scriptOf(command string) string {
	for word := range strings.FieldsSeq(command) {
		word = strings.Trim(word, `"'`)
		info, err := os.Stat(word)
		if err != nil || !filepath.IsAbs(word) || !info.Mode().IsRegular() || info.Size() > maxScript {
			continue
		}
		if script, err := os.ReadFile(word); err == nil && strings.HasPrefix(string(script), "#!") {
			return string(script)
		}
	}
	return ""
}

// shadowed finds installations for the person that a project's own file takes the place
// of, or a file that another one takes the place of.
func shadowed(s *subject) (found []finding) {
	p := s.verifier.Installer.Places
	switch {
	case s.agent.Name == "openhands" && s.installed.Scope == install.User && p.Project != "":
		for _, path := range s.agent.Paths(p, install.Project) {
			if _, err := os.Stat(path); err == nil && len(s.verifier.Installer.StatusOf(s.agent, install.Project).Entries) == 0 {
				found = append(found, s.fault(path, 0, "hookd install openhands --project", "%s reads the hooks of this project and not those of the person: %s shadows %s", s.agent.Title, path, s.installed.File))
			}
		}
	case s.agent.Name == "factory" && len(s.installed.Entries) > 0 && filepath.Base(s.installed.File) == "settings.json":
		path := filepath.Join(filepath.Dir(s.installed.File), "hooks.json")
		if _, err := os.Stat(path); err == nil {
			found = append(found, s.fault(path, 0, s.again(), "%s reads hooks.json and not the hooks in settings.json: %s shadows %s", s.agent.Title, path, s.installed.File))
		}
	}
	return found
}

// modFolders are where Claude Code finds mods and plug-ins.
var modFolders = []string{"mods", "plugins"}

// mods finds mods of Claude Code on disk: they are asked before hooks that are not
// managed, and can lift what those refuse.
func mods(s *subject) (found []finding) {
	if s.installed.Scope == install.Managed {
		return nil
	}
	p := s.verifier.Installer.Places
	dirs := []string{s.homePath("CLAUDE_CONFIG_DIR", ".claude")}
	if p.Project != "" {
		dirs = append(dirs, filepath.Join(p.Project, ".claude"))
	}
	for _, dir := range dirs {
		for _, folder := range modFolders {
			if file := firstMod(filepath.Join(dir, folder)); file != "" {
				found = append(found, s.doubtful(file, 0, "hookd install claude --managed, or remove the mod",
					"mods of Claude Code are asked before hooks that are not managed, and can overrule them: %s", file))
			}
		}
	}
	return found
}

// mostModFiles are looked at.
const mostModFiles = 20_000

// modCall is how a mod takes part in tool calls.
var modCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bon\(\s*["'](?:tool\.(?:call|check)|prompt\.submit|turn\.step|agent\.spawn)`)
})

// firstMod returns the first script in a folder that takes part in calls as a mod, "" if
// there is none.
func firstMod(folder string) (found string) {
	count := 0
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if count++; err != nil || count > mostModFiles {
			return nil
		}
		switch filepath.Ext(path) {
		case ".js", ".mjs", ".cjs", ".ts", ".mts":
		default:
			return nil
		}
		if info, err := entry.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return nil
		}
		if script, err := os.ReadFile(path); err == nil && modCall().Match(script) {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
}
