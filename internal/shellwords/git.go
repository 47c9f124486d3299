package shellwords

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// gitReader finds the commands that git is given.
type gitReader struct{ *reader }

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

// git reads the commands that git is given to run: by a setting, by an option, or by a
// subcommand that does so. It says why it does not show what git runs, "" if it does.
func (r gitReader) git(args []Word) string {
	const runs = "it has git run a command that is not read here"
	here := r.found.here
	defer func() { r.found.here = here }()
	r.found.here = fromEach(here, worksIn(append([]Word{{Text: "git", Literal: true}}, args...)))
	at := make(map[string]int, len(args))
	for i, word := range args {
		if _, twice := at[word.Text]; !twice {
			at[word.Text] = i
		}
	}
	has := func(word string) bool { _, is := at[word]; return is }
	rest := func(word string) []Word { return args[at[word]+1:] }
	switch {
	case has("filter-branch"), has("for-each-repo"), has("remote-ext"), has("shell"):
		return runs
	case has("submodule") && has("foreach"):
		r.joinedWords(rest("foreach"))
	case has("bisect") && has("run") && len(rest("run")) > 0:
		wrapping(r).candidate(rest("run"), false)
		wrapping(r).wrapped(rest("run"), nil)
	}
	for i, word := range args {
		if name, value, sets := gitSetting(args, i, has("config")); sets && runBySetting().MatchString(name) {
			if !r.gitValue(name, value) {
				return runs
			}
		}
		if strings.HasPrefix(word.Text, "ext::") {
			return runs
		}
		name, value, glued := strings.Cut(word.Text, "=")
		for _, option := range gitPrograms {
			long := len(name) > 2 && strings.HasPrefix(option.long, name)
			letter := option.letter != "" && strings.HasPrefix(word.Text, "-") && !strings.HasPrefix(word.Text, "--") && strings.Contains(word.Text, option.letter)
			if !(long || letter) || !has(option.subcommand) {
				continue
			}
			switch {
			case option.long != "--exec" || option.subcommand != "rebase":
				return runs
			case long && glued && word.Literal:
				r.givenText(value, false)
			case (long || word.Text == "-x") && i+1 < len(args) && args[i+1].Literal:
				r.givenText(args[i+1].Text, false)
			default:
				return runs
			}
		}
	}
	return ""
}

// joinedWords reads words that a program gives to a shell as one text.
func (r gitReader) joinedWords(words []Word) {
	for len(words) > 0 && words[0].Literal && strings.HasPrefix(words[0].Text, "-") {
		words = words[1:]
	}
	if slices.ContainsFunc(words, isNotLiteral) {
		r.found.add(Command{Text: strings.Join(texts(words), " "), Words: words, Given: true, Unclear: "a shell reads words of it that only show when it runs"})
		return
	}
	r.givenText(strings.Join(texts(words), " "), false)
}

// gitValue reads the command that is the value of a setting, and reports whether it is one.
func (r gitReader) gitValue(name string, value Word) bool {
	text, shell := strings.CutPrefix(value.Text, "!")
	alias := strings.HasPrefix(name, "alias.")
	switch {
	case !value.Literal || !commandSetting().MatchString(name):
		return false
	case text == "" || text == "true" || text == "false":
		return true
	case alias && !shell:
		text = "git " + text
	case strings.HasSuffix(name, ".helper") && !shell:
		return !strings.ContainsAny(text, "/ ")
	}
	r.givenText(text, alias)
	return true
}

// commandSetting are settings whose value is a command.
var commandSetting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^alias\.|^pager\.|\.(pager|editor|sshcommand|askpass|textconv|external|[a-z]*command|cmd|clean|smudge|process|browser|helper|difffilter)$`)
})

// gitSetting returns the name of a setting in lower case and its value, if a word sets
// one: -c x=y, -cx=y, --config-env=x=Y, clone's --config x=y, and, where one is config, all
// words. What an option of another kind gives has no literal value.
func gitSetting(args []Word, at int, config bool) (name string, value Word, sets bool) {
	written := args[at].Text
	word := strings.ToLower(written)
	option := func(text string) bool {
		return text == "-c" || len(text) > 3 && (strings.HasPrefix("--config-env", text) || strings.HasPrefix("--config", text))
	}
	long, after, glued := strings.Cut(word, "=")
	before := ""
	if at > 0 {
		before = strings.ToLower(args[at-1].Text)
	}
	plain := false
	switch {
	case glued && option(long):
		word = after
	case strings.HasPrefix(word, "-c"):
		word, plain = word[2:], true
	case at > 0 && option(before):
		plain = before == "-c" || before == "--config"
	case config:
		name = word
		if at+1 < len(args) {
			value = args[at+1]
		}
		return name, value, true
	default:
		return "", value, false
	}
	name, after, _ = strings.Cut(word, "=")
	if plain { // else the value is that of a variable
		value = Word{Text: written[len(written)-len(after):], Literal: args[at].Literal}
	}
	return name, value, true
}

// runBySetting are settings whose value git runs.
var runBySetting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^alias\.|^(pager|include|includeif|protocol)\.|\.([a-z]*(command|cmd|hook|pager|editor|filter)|askpass|hookspath|fsmonitor|gitproxy|textconv|external|driver|clean|smudge|process|helper|program|path|uploadpack|receivepack|uploadarchive|vcs|browser|httpd|viewer|update)$`)
})
