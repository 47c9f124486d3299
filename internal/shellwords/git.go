package shellwords

import (
	"regexp"
	"strings"
	"sync"
)

// gitPrograms are options of git's subcommands whose value is a program, by their long
// name, of which git takes every beginning, and by their letter. "" stands for every
// subcommand.
var gitPrograms = []struct{ subcommand, long, letter string }{
	{"clone", "--upload-pack", "u"}, {"fetch", "--upload-pack", ""}, {"pull", "--upload-pack", ""}, {"ls-remote", "--upload-pack", ""},
	{"fetch-pack", "--upload-pack", ""}, {"fetch-pack", "--exec", ""}, {"ls-remote", "--exec", ""}, {"archive", "--exec", ""},
	{"push", "--receive-pack", ""}, {"push", "--exec", ""}, {"send-pack", "--receive-pack", ""}, {"send-pack", "--exec", ""},
	{"rebase", "--exec", "x"}, {"difftool", "--extcmd", "x"}, {"grep", "--open-files-in-pager", "O"},
	{"send-email", "--sendmail-cmd", ""}, {"send-email", "--to-cmd", ""}, {"send-email", "--cc-cmd", ""}, {"send-email", "--header-cmd", ""}, {"send-email", "--smtp-server", ""},
	{"web--browse", "--browser", "b"}, {"instaweb", "--httpd", "d"}, {"instaweb", "--browser", "b"},
}

// gitRuns reports whether git is given a command to run: by a setting, by an option, or
// by a subcommand that does so.
func gitRuns(args []string) bool {
	words := make(map[string]bool, len(args))
	for _, word := range args {
		words[word] = true
	}
	has := func(word string) bool { return words[word] }
	switch {
	case has("filter-branch"), has("for-each-repo"), has("submodule") && has("foreach"), has("bisect") && has("run"), has("remote-ext"), has("shell"):
		return true
	}
	for i, word := range args {
		if setting, sets := gitSetting(args, i, has("config")); sets && runBySetting().MatchString(setting) || strings.HasPrefix(word, "ext::") {
			return true
		}
		name, _, _ := strings.Cut(word, "=")
		for _, option := range gitPrograms {
			long := len(name) > 2 && strings.HasPrefix(option.long, name)
			letter := option.letter != "" && strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, option.letter)
			if (long || letter) && has(option.subcommand) {
				return true
			}
		}
	}
	return false
}

// gitSetting returns the name of a setting in lower case, if a word sets one: -c x=y,
// -cx=y, --config-env=x=Y, clone's --config x=y, and, where one is config, all words.
func gitSetting(args []string, at int, config bool) (name string, sets bool) {
	word := strings.ToLower(args[at])
	option := func(text string) bool {
		return text == "-c" || len(text) > 3 && (strings.HasPrefix("--config-env", text) || strings.HasPrefix("--config", text))
	}
	long, value, glued := strings.Cut(word, "=")
	switch {
	case glued && option(long):
		word = value
	case strings.HasPrefix(word, "-c"):
		word = word[2:]
	case !(at > 0 && option(strings.ToLower(args[at-1]))) && !config:
		return "", false
	}
	name, _, _ = strings.Cut(word, "=")
	return name, true
}

// runBySetting are settings whose value git runs.
var runBySetting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^alias\.|^(pager|include|includeif|protocol)\.|\.([a-z]*(command|cmd|hook|pager|editor|filter)|askpass|hookspath|fsmonitor|gitproxy|textconv|external|driver|clean|smudge|process|helper|program|path|uploadpack|receivepack|uploadarchive|vcs|browser|httpd|viewer|update)$`)
})
