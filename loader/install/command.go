package install

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Command is the command line of one of our entries.
type Command struct {
	Program string // as the shell that runs it would see it
	Agent   string
	Event   string        // the agent's own name
	Limit   time.Duration // what the agent's configuration states, 0 if it is not there
	More    string        // what else is on the line, which may lose or change the answer
}

// Shell is the program with which an agent runs the command line of a hook.
type Shell int

// The shells of agents.
const (
	POSIX Shell = iota // also Git's bash on Windows, and shells that are built in
	Cmd                // cmd.exe
	PowerShell
)

// ShellOf returns the shell with which an agent runs hooks on this system.
func (p Places) ShellOf(a *Agent) Shell {
	if p.OS != "windows" {
		return POSIX
	}
	return a.layout.windows
}

// Line writes the command for a shell.
func (c Command) Line(shell Shell) string {
	words := c.Words()
	words[0] = shell.quote(c.Program)
	return strings.Join(words, " ")
}

// Words are the words of the command line.
func (c Command) Words() []string {
	words := []string{c.Program}
	if !c.messenger() {
		words = append(words, "bridge")
	}
	words = append(words, c.Agent)
	if c.Event != "" {
		words = append(words, c.Event)
	}
	if c.Limit > 0 {
		words = append(words, "--limit", limitText(c.Limit))
	}
	if c.messenger() {
		words = append(words, "--start") // a daemon, if there is none
	}
	return words
}

// messenger reports whether the program is the small one that asks a daemon.
func (c Command) messenger() bool {
	name := c.Program[strings.LastIndexAny(c.Program, `/\`)+1:]
	return strings.TrimSuffix(name, ".exe") == "hookd-bridge"
}

func limitText(limit time.Duration) string {
	if limit%time.Second == 0 {
		return strconv.Itoa(int(limit/time.Second)) + "s"
	}
	return strconv.Itoa(int(limit/time.Millisecond)) + "ms"
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`) })

// quote writes the path of a program as the first word of a line. PowerShell takes a word in
// quotes for a text to print, unless & is before it.
func (s Shell) quote(program string) string {
	switch {
	case plainWord().MatchString(program):
		return program
	case s == Cmd:
		return `"` + program + `"` // no path has a quote in it there
	case s == PowerShell:
		return "& '" + strings.ReplaceAll(program, "'", "''") + "'"
	}
	return "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
}

// The folder of a program: in quotes, or in none, which is read up to what ends a command.
const folderText = `(?:'(?:[^'\n]|'\\''|'')*[\\/]|"[^"\n]*[\\/]|[^;|<>&\n$` + "`" + `]*[\\/"'])?`

// ours is a command line that starts hookd's bridge, whatever the path and however it is
// quoted: also one with blanks in its path and no quotes, which an agent cannot run.
var ours = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:&\s*)?(?:exec\s+)?(` + folderText + `hookd(?:\.exe)?["']?\s+["']?bridge["']?|` +
		folderText + `hookd-bridge(?:\.exe)?["']?(?:\s+["']?bridge["']?)?)(?:\s+(.*))?$`)
})

// argument is a word that hookd may be given: nothing that a shell acts on.
var argument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_=.-]+$`) })

var bridgeWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+["']?bridge["']?$`) })

// ParseCommand reads a command line that starts hookd's bridge; ok is false of any other.
func ParseCommand(line string) (c Command, ok bool) {
	if !strings.Contains(line, "hookd") {
		return Command{}, false
	}
	m := ours().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if m == nil {
		return Command{}, false
	}
	program := bridgeWord().ReplaceAllString(m[1], "")
	if strings.HasPrefix(strings.TrimSpace(line), "&") {
		program = strings.ReplaceAll(program, "''", `'\''`)
	}
	c.Program = unquote(program)
	words := strings.Fields(m[2])
	for i := 0; i < len(words); i++ {
		word := strings.Trim(words[i], `"'`)
		switch {
		case !argument().MatchString(word):
			c.More = strings.Join(words[i:], " ")
			return c, true
		case word == "--limit" && i+1 < len(words):
			i++
			c.Limit, _ = time.ParseDuration(strings.Trim(words[i], `"'`))
		case strings.HasPrefix(word, "--limit="):
			c.Limit, _ = time.ParseDuration(strings.TrimPrefix(word, "--limit="))
		case strings.HasPrefix(word, "-"):
		case c.Agent == "":
			c.Agent = word
		case c.Event == "":
			c.Event = word
		default:
			c.More = strings.Join(words[i:], " ")
			return c, true
		}
	}
	return c, true
}

// unquote takes the quotes of a shell word away.
func unquote(word string) string {
	if !strings.ContainsAny(word, `'"`) && (strings.Contains(word, `:\`) || !strings.Contains(word, `\`)) {
		return word
	}
	var out strings.Builder
	var quote byte
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(word) && (quote == 0 || strings.IndexByte(`"\$`+"`", word[i+1]) >= 0):
			i++
			out.WriteByte(word[i])
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}
