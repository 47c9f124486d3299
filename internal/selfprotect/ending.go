package selfprotect

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/table"
)

// ends are the programs that end other processes.
const ends table.Words = "kill pkill killall killall5 fuser skill slay taskkill tskill stop-process spps loginctl gdb"

// judgeEnding judges kill, pkill, killall and their like: of hookd's processes, or of all.
func judgeEnding(j *shellLine, line *shellwords.Line, c *shellwords.Command, name string) {
	args := c.Words[1:]
	switch name {
	case "kill":
		judgeKill(j, line, c)
	case "pkill", "killall", "killall5":
		judgeKillByName(j, line, c, name)
	case "fuser":
		if hasOption(args, "-k --kill") {
			for _, word := range operandsOf(args, "-n -s") {
				j.operand(c, word, writes)
			}
		}
	case "loginctl":
		if slices.ContainsFunc(args, func(w shellwords.Word) bool {
			return strings.HasPrefix(w.Text, "terminate-") || strings.HasPrefix(w.Text, "kill-")
		}) {
			j.refuse("%s ends the processes of the person, hookd's among them", quoted(c.Text))
		}
	case "gdb":
		judgeWithin(j, c, name)
		for _, word := range valuesOf(args, []string{"-p", "--pid", "-pid"}) {
			j.process(c, word.Text)
		}
	default:
		if slices.ContainsFunc(args, func(w shellwords.Word) bool { return isHookdName(strings.TrimSuffix(strings.ToLower(w.Text), ".exe")) }) {
			j.refuse("%s ends hookd", quoted(c.Text))
		}
	}
}

func isHookdName(name string) bool {
	match, _ := path.Match(name, "hookd")
	return match || name == "hookd" || name == "hookd-bridge"
}

// judgeKill judges kill by the numbers in its words.
func judgeKill(j *shellLine, line *shellwords.Line, c *shellwords.Command) {
	args := c.Words[1:]
	if hasWord(args, "-l --list -L --table -0") {
		return
	}
	speaks := strings.Contains(strings.ToLower(line.Text), "hookd")
	signal := false
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case !word.Literal && speaks:
			j.refuse("%s ends a process of hookd's", quoted(c.Text))
		case !word.Literal, word.Text == "--":
		case !signal && (word.Text == "-s" || word.Text == "-n" || word.Text == "--signal"):
			signal = true
			i++
		case !signal && i == 0 && strings.HasPrefix(word.Text, "-") && len(args) > 1:
			signal = true
		case word.Text == "-1":
			j.refuse("%s ends every process, hookd's among them", quoted(c.Text))
		default:
			j.process(c, strings.TrimPrefix(word.Text, "-"))
		}
	}
}

// process refuses the end of a process by its number, if it is hookd's.
func (j *judge) process(c *shellwords.Command, text string) {
	if pid := number(text); pid > 1 && j.options.Runs != nil && j.options.Runs(pid) {
		j.refuse("%s ends process %s, which is hookd's", quoted(c.Text), text)
	}
}

// judgeKillByName judges pkill and killall.
func judgeKillByName(j *shellLine, line *shellwords.Line, c *shellwords.Command, name string) {
	args := c.Words[1:]
	speaks := strings.Contains(strings.ToLower(line.Text), "hookd")
	full := hasOption(args, "-f --full -r --regexp")
	names := operandsOf(args, "-u --user --euid -U --uid -t --terminal -g --pgroup -G --group -P --parent -s --session --signal -Z --context -y --younger-than -o --older-than --ns --nslist")
	for _, word := range names {
		switch {
		case !word.Literal && speaks:
			j.refuse("%s ends a process of hookd's", quoted(c.Text))
		case word.Literal && matchesHookd(name, word.Text, full):
			j.refuse("%s ends hookd", quoted(c.Text))
		}
	}
	if name == "killall5" || len(names) == 0 && hasOption(args, "-u --user --euid -U --uid") {
		j.refuse("%s ends every process of a user, hookd's among them", quoted(c.Text))
	}
}

// matchesHookd reports whether a pattern of pkill, or a name of killall, is that of hookd.
func matchesHookd(program, pattern string, full bool) bool {
	names := []string{"hookd", "hookd-bridge"}
	if program == "killall" && !full {
		return slices.Contains(names, pattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return strings.Contains(pattern, "hookd")
	}
	if full {
		names = append(names, "hookd serve --socket", "/usr/local/bin/hookd serve --socket")
	}
	return slices.ContainsFunc(names, re.MatchString)
}

// number returns a text as a process number, 0 if it is none.
func number(text string) int {
	n := 0
	for _, r := range text {
		if r < '0' || r > '9' || n > 1<<30 {
			return 0
		}
		n = n*10 + int(r-'0')
	}
	return n
}
