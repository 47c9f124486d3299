package selfprotect

import (
	"path"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/table"
)

// switchOff are words by which a program runs without hooks, or with other ones.
type switchOff struct {
	programs string // names, and packages for npx and the like
	words    string // alternatives at |, each one word or several in a row, with * for any text
	why      string
}

// switchesOff is the table of such words. An option also counts with =VALUE.
var switchesOff = []switchOff{
	{"claude @anthropic-ai/claude-code", "--dangerously-*|--allow-dangerously-*|--settings|--setting-sources|--bare|--safe-mode|--plugin-dir|--disable-hooks|--no-hooks", "starts Claude Code without its hooks, or with other settings"},
	{"claude @anthropic-ai/claude-code", "plugin* install|plugin* i|plugin* enable|plugin* disable|plugin* uninstall|plugin* remove|plugin* update|mod* install|mod* enable|config set *ook*|config add *ook*|config remove *ook*", "changes what Claude Code loads beside its hooks"},
	{"codex @openai/codex", "--dangerously-*|--yolo|--disable *hooks|--disable=*hooks|-c *hooks*|-c*hooks*|--config *hooks*|--config=*hooks*|features disable *hooks|--ignore-user-config", "starts Codex without its hooks"},
	{"gemini @google/gemini-cli", "hooks disable*|hooks uninstall*|hooks migrate*|extensions install|extensions enable|extensions disable|extensions uninstall|extensions link|trust", "switches hooks of Gemini CLI off"},
	{"qwen @qwen-code/qwen-code", "hooks disable*|hooks uninstall*|extensions install|extensions enable|extensions disable|extensions uninstall|--bare|--safe-mode", "switches hooks of Qwen Code off"},
	{"copilot @github/copilot", "--no-hooks|--disable-hooks|--config-dir|plugin install|plugin uninstall|plugin disable|plugin enable", "starts Copilot CLI without its hooks"},
	{"opencode opencode-ai", "--pure|plugin *", "starts OpenCode without its plug-ins"},
	{"pi @mariozechner/pi-coding-agent", "--no-extensions|-ne", "starts pi without its extensions"},
	{"droid @factory/cli", "--skip-permissions-unsafe|--settings", "starts Factory without its hooks"},
	{"hermes", "--accept-hooks|--safe-mode|hooks disable*|hooks revoke*", "starts Hermes without its hooks"},
	{"kodelet", "--no-hooks|--no-extensions", "starts kodelet without its hooks"},
	{"goose", "plugin* disable*|plugin* uninstall*|plugin* remove*", "switches plug-ins of Goose off"},
	{"cursor-agent cursor", "--disable-hooks|--no-hooks", "starts Cursor without its hooks"},
	{"crush @charmland/crush", "--data-dir|-D", "starts Crush with other settings"},
	{"cline", "--hooks-dir|--config", "starts Cline with other hooks"},
	{"kiro-cli kiro q", "--agent-config|agent set-default|settings *ook*", "starts Kiro with other hooks"},
}

// hookdCommands are hookd's own subcommands that a person uses.
const hookdCommands table.Words = "trust untrust enable disable install uninstall"

// onlyLook are options with which a subcommand of hookd changes nothing.
const onlyLook = "--help -h --dry-run --status --detect --verify --print --list"

// relocating are variables that have an agent, or hookd, look for its settings elsewhere,
// or leave hooks out.
const relocating table.Words = "CLAUDE_CONFIG_DIR CLAUDE_CODE_SIMPLE CLAUDE_CODE_SAFE_MODE CLAUDE_CODE_DISABLE_HOOKS CLAUDE_CODE_STOP_HOOK_BLOCK_CAP CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS " +
	"CODEX_HOME CODEX_DISABLE_HOOKS GEMINI_CLI_HOME GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_SYSTEM_DEFAULTS_PATH GEMINI_CLI_TRUST_WORKSPACE GEMINI_CLI_TRUSTED_FOLDERS_PATH " +
	"QWEN_HOME QWEN_CODE_SYSTEM_SETTINGS_PATH QWEN_CODE_SYSTEM_DEFAULTS_PATH QWEN_CODE_TRUSTED_FOLDERS_PATH COPILOT_HOME COPILOT_CONFIG_DIR CLINE_HOOKS_DIR CLINE_DIR CLINE_DATA_DIR " +
	"HERMES_HOME HERMES_SAFE_MODE HERMES_ACCEPT_HOOKS OPENCODE_CONFIG OPENCODE_CONFIG_DIR OPENCODE_CONFIG_CONTENT OPENCODE_DISABLE_DEFAULT_PLUGINS OPENCODE_PURE " +
	"CRUSH_GLOBAL_CONFIG CRUSH_GLOBAL_DATA KIRO_HOME PI_CODING_AGENT_DIR FACTORY_HOME"

// homes are variables that relocate everything; they count where an agent is started.
const homes table.Words = "HOME USERPROFILE XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR APPDATA"

// switches judges a command that starts an agent, or hookd, by its words.
func (j *shellLine) switches(c *shellwords.Command, name string) {
	args := c.Words[1:]
	if (name == "sudo" || name == "doas" || name == "runuser" || name == "su") && hasOption(args, "-u --user -l --login") && slices.ContainsFunc(args, func(w shellwords.Word) bool { return isAgent(programName(w.Text)) }) {
		j.doubt("%s starts an agent as another user, who may have no hooks", quoted(c.Text))
	}
	if managers.Has(name) {
		judgeRemoval(j, c)
	}
	if name == "hookd" {
		j.hookd(c, args)
		return
	}
	if name == "systemctl" || name == "launchctl" || name == "service" || name == "sc" {
		j.service(c, args)
		return
	}
	for i := range switchesOff {
		s := &switchesOff[i]
		if !isProgram(s, name, args) {
			continue
		}
		for alternative := range strings.SplitSeq(s.words, "|") {
			if wordsInRow(args, strings.Fields(alternative)) {
				j.refuse("%s %s", quoted(c.Text), s.why)
				return
			}
		}
	}
}

// isProgram reports whether a command starts one of the programs of a row, also as a
// package that npx or the like fetches.
func isProgram(s *switchOff, name string, args []shellwords.Word) bool {
	for _, program := range strings.Fields(s.programs) {
		if name == program {
			return true
		}
		if (name == "node" || name == "nodejs" || name == "bun") && slices.ContainsFunc(args, func(w shellwords.Word) bool {
			return strings.Contains(w.Text, "node_modules/"+program+"/")
		}) {
			return true
		}
		if packageRunners.Has(name) && slices.ContainsFunc(args, func(w shellwords.Word) bool {
			bare := w.Text
			if at := strings.LastIndex(bare, "@"); at > 0 {
				bare = bare[:at]
			}
			return bare == program
		}) {
			return true
		}
	}
	return false
}

const packageRunners table.Words = "npx bunx pnpx pnpm yarn npm bun uvx deno mise volta fnm"

// isAgent reports whether a program is an agent of the table.
func isAgent(name string) bool {
	return slices.ContainsFunc(switchesOff, func(s switchOff) bool { return slices.Contains(strings.Fields(s.programs), name) })
}

// wordsInRow reports whether patterns match words one after the other. Options between
// subcommands do not count.
func wordsInRow(args []shellwords.Word, patterns []string) bool {
	if len(patterns) > 1 && !strings.HasPrefix(patterns[0], "-") {
		args = slices.DeleteFunc(slices.Clone(args), func(w shellwords.Word) bool { return strings.HasPrefix(w.Text, "-") })
	}
	for at := range args {
		if len(args)-at < len(patterns) {
			return false
		}
		all := true
		for i, pattern := range patterns {
			word := args[at+i]
			match, _ := path.Match(pattern, strings.ReplaceAll(word.Text, "/", "."))
			valued := strings.HasPrefix(pattern, "--") && !strings.Contains(pattern, "=") && strings.HasPrefix(word.Text, pattern+"=")
			if !match && !valued {
				all = false
				break
			}
		}
		if all {
			return true
		}
	}
	return false
}

// hookd judges a command of hookd's own: what a person decides, no agent does.
func (j *shellLine) hookd(c *shellwords.Command, args []shellwords.Word) {
	if hasWord(args, onlyLook) {
		return
	}
	for i, word := range args {
		if strings.HasPrefix(word.Text, "-") {
			continue
		}
		if hookdCommands.Has(word.Text) {
			j.refuse("%s is for the person to decide, not for an agent", quoted(c.Text))
			return
		}
		// It may be the value of the option before it.
		if i == 0 || !strings.HasPrefix(args[i-1].Text, "-") || strings.Contains(args[i-1].Text, "=") {
			return
		}
	}
}

func hasWord(args []shellwords.Word, words string) bool {
	return slices.ContainsFunc(args, func(w shellwords.Word) bool { return slices.Contains(strings.Fields(words), w.Text) })
}

// service judges the end of a service that is hookd.
func (j *shellLine) service(c *shellwords.Command, args []shellwords.Word) {
	if hasWord(args, "status show cat list-units is-active is-enabled list print") {
		return
	}
	if slices.ContainsFunc(args, func(w shellwords.Word) bool { return strings.Contains(strings.ToLower(w.Text), "hookd") }) {
		j.refuse("%s ends hookd", quoted(c.Text))
	}
}

// variables judges what a line sets: a variable by which an agent that the line starts, or
// one that is started later, finds other settings.
func (j *shellLine) variables(line *shellwords.Line, c *shellwords.Command) {
	sets := slices.Clone(c.Sets)
	kept := len(c.Words) > 0 && slices.Contains([]string{"export", "declare", "typeset", "setx", "launchctl"}, c.Words[0].Text)
	if len(c.Words) > 0 && (kept || programName(c.Words[0].Text) == "env") {
		sets = append(sets, c.Words[1:]...)
	}
	for _, word := range sets {
		name, _, is := strings.Cut(word.Text, "=")
		if name = strings.TrimSuffix(name, "+"); !is || !relocating.Has(name) && !homes.Has(name) {
			continue
		}
		if agent := startedAgent(line); agent != "" {
			j.refuse("%s has %s run with other settings (%s)", quoted(c.Text), agent, name)
		} else if kept && relocating.Has(name) {
			j.refuse("%s has agents that are started later run with other settings (%s)", quoted(c.Text), name)
		}
	}
}

// startedAgent returns the name of an agent, or of hookd, that a line starts, "" if it
// starts none.
func startedAgent(line *shellwords.Line) string {
	for i := range line.Commands {
		words := line.Commands[i].Words
		if len(words) == 0 {
			continue
		}
		name := programName(words[0].Text)
		if name == "hookd" {
			return name
		}
		for s := range switchesOff {
			if isProgram(&switchesOff[s], name, words[1:]) {
				return name
			}
		}
	}
	return ""
}
