package bundle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
)

// A ShellLine is a command that a shell reads, as a hook of another agent has it.
type ShellLine struct {
	Text string
	// Value returns the value of a variable that the hook will have for sure: the project's
	// folder by the agent's own name of it, HOME.
	Value func(name string) (string, bool)

	swaps []lineSwap
	depth int // of lines in lines
}

// lineSwap is a word of the line that means a file of the bundle.
type lineSwap struct {
	begin, end int
	name       string // of the member
}

// writers are programs whose arguments are files that they write: what is written by a
// hook is no part of it.
var writers = []string{"tee", "touch", "mkdir", "rm", "mv", "truncate", "chmod", "echo", "printf", "test", "[", "[[", "cd", "pushd", "logger"}

// add puts the files of the project that the line names into a bundle, and notes what
// the line does not tell.
func (l *ShellLine) add(c *Code, d *Draft) error {
	commands, err := shellwords.Resolve(l.Text, l.Value)
	if err != nil {
		c.Note("its shell line is not understood: %v", err)
		return nil
	}
	folders := []string{""}
	for _, command := range commands {
		folders = append(folders, moves(command)...)
	}
	for _, command := range commands {
		if err := l.addCommand(c, d, command, folders); err != nil {
			return err
		}
	}
	return nil
}

// moves is the folder that a command moves the shell to. Where that is not known, files
// that the rest of the line names are not found.
func moves(c shellwords.ResolvedCommand) []string {
	if len(c.Words) < 2 || c.Words[0].Text != "cd" && c.Words[0].Text != "pushd" {
		return nil
	}
	last := c.Words[len(c.Words)-1]
	if !last.Known || last.Text == "-" {
		return nil
	}
	return []string{last.Text}
}

func (l *ShellLine) addCommand(c *Code, d *Draft, command shellwords.ResolvedCommand, folders []string) error {
	words := make([]string, len(command.Words))
	for i, w := range command.Words {
		words[i] = w.Text
	}
	named := slices.Concat(command.Sets, command.Reads)
	if len(words) > 0 {
		if !slices.Contains(writers, words[0]) {
			named = append(named, command.Words...)
		}
		if command.Words[0].Known {
			c.NoteKind(words)
		}
		if words[0] == "cd" || words[0] == "pushd" {
			c.noteUnknown(command.Words[1:])
		}
	}
	c.noteUnknown(named)
	for _, w := range named {
		if !w.Known {
			continue
		}
		if err := l.addWord(c, d, w, folders); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(words, func(word string) bool { return interpreter.KindOf(word) == interpreter.KindShell }) {
		return l.addTexts(c, d, command.Words[1:])
	}
	return nil
}

// maxTexts are lines in one another whose files are found.
const maxTexts = 3

// addTexts puts in the files that the texts name which a line gives to a shell: sh -c
// './guard.sh'. They are watched, and run where they are.
func (l *ShellLine) addTexts(c *Code, d *Draft, words []shellwords.Resolved) error {
	for _, w := range words {
		if !w.Known || l.depth >= maxTexts || strings.HasPrefix(w.Text, "-") || !strings.ContainsAny(w.Text, " /") {
			continue
		}
		inner := ShellLine{Text: w.Text, Value: l.Value, depth: l.depth + 1}
		if err := inner.add(c, d); err != nil {
			return err
		}
	}
	return nil
}

// noteUnknown notes words that only the moment tells in which the line runs.
func (c *Code) noteUnknown(words []shellwords.Resolved) {
	for _, w := range words {
		if !w.Known {
			c.Note("what %s stands for is seen when it runs, and a file that it names is not watched", shownWord(w.Text))
		}
	}
}

func shownWord(word string) string {
	const most = 60
	if len(word) > most {
		word = strings.ToValidUTF8(word[:most], "") + "…"
	}
	return fmt.Sprintf("%q", word)
}

// addWord puts in what one word names of the project: a file, or one that it carries
// (--config=x). With several folders the shell may be in, the first that has it counts
// for the copy, and all are part of the bundle.
func (l *ShellLine) addWord(c *Code, d *Draft, w shellwords.Resolved, folders []string) error {
	for _, part := range partsOf(w.Text) {
		if part.path == "" || strings.HasPrefix(part.path, "-") {
			continue
		}
		found := 0
		for _, folder := range folders {
			path := part.path
			if folder != "" {
				if filepath.IsAbs(path) {
					continue
				}
				path = filepath.Join(folder, path)
			}
			at := d.Locate(path)
			if at.Name == "" {
				continue
			}
			d.See(at.Where)
			if !at.Exists || !at.Info.Mode.IsRegular() {
				continue
			}
			if err := d.put(at.Name, at.Where); err != nil {
				return err
			}
			if found++; part.before == "" && found == 1 {
				l.swaps = append(l.swaps, lineSwap{w.Begin, w.End, at.Name})
			} else if found > 1 {
				c.Note("%s may be one of several files", shownWord(w.Text))
				l.swaps = slices.DeleteFunc(l.swaps, func(s lineSwap) bool { return s.begin == w.Begin })
			}
		}
		if found > 0 {
			return nil
		}
	}
	return nil
}

// Copied returns the line with the copies in a folder in the place of the files that it
// names.
func (l *ShellLine) Copied(folder string) string {
	swaps := slices.Clone(l.swaps)
	slices.SortFunc(swaps, func(a, b lineSwap) int { return a.begin - b.begin })
	var b strings.Builder
	at := 0
	for _, s := range swaps {
		if s.begin < at { // inside of one that was replaced
			continue
		}
		b.WriteString(l.Text[at:s.begin])
		b.WriteString(quoteShell(filepath.Join(folder, filepath.FromSlash(s.name))))
		at = s.end
	}
	return b.String() + l.Text[at:]
}

func quoteShell(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// NamesFiles reports whether the line names a file of the project.
func (l *ShellLine) NamesFiles(in *Builder) bool {
	commands, err := shellwords.Resolve(l.Text, l.Value)
	if err != nil {
		return false
	}
	for _, command := range commands {
		for _, w := range slices.Concat(command.Words, command.Sets, command.Reads) {
			if at := in.Locate(w.Text); w.Known && at.Name != "" && at.Exists && at.Info.Mode.IsRegular() {
				return true
			}
		}
	}
	return false
}

// NamesProject reports whether the line names something for which inside says that it
// lies in a project, or depends on one of the variables that mean its folder, also in a
// text that the line gives to another program: sh -c '…'. what is the word.
func (l *ShellLine) NamesProject(root string, inside func(path string) bool) (what string, is bool) {
	commands, err := shellwords.Resolve(l.Text, l.Value)
	if err != nil {
		return l.Text, SpeaksOfProject(l.Text, root)
	}
	for _, command := range commands {
		for _, w := range slices.Concat(command.Words, command.Sets, command.Reads) {
			switch {
			case SpeaksOfProject(w.Text, root):
				return w.Text, true
			case w.Known && filepath.IsAbs(w.Text) && inside(w.Text):
				return w.Text, true
			case w.Known && !filepath.IsAbs(w.Text) && strings.Contains(w.Text, "/") && files.IsRegular(filepath.Join(root, w.Text)):
				return w.Text, true
			}
		}
	}
	return l.Text, SpeaksOfProject(l.Text, root) // in a here-document
}

// SpeaksOfProject reports whether a text has a project's folder in it, or a variable in
// which an agent gives its hooks that folder.
func SpeaksOfProject(text, root string) bool {
	return strings.Contains(text, "PROJECT_DIR") || strings.Contains(text, "GEMINI_CWD") || len(root) > 1 && strings.Contains(text, root)
}

// StartsProject reports whether the line starts a program of the project that it finds by
// the variables that mean its folder. Other words may name the project: git -C.
func (l *ShellLine) StartsProject(root string, inside func(path string) bool) (what string, is bool) {
	commands, err := shellwords.Resolve(l.Text, l.Value)
	if err != nil {
		return "", false
	}
	for _, command := range commands {
		for i, w := range command.Words {
			switch {
			case i == 0 && SpeaksOfProject(w.Text, root):
				return w.Text, true
			case w.Known && filepath.IsAbs(w.Text) && inside(w.Text) && files.IsRegular(w.Text):
				return w.Text, true
			case i == 0 && w.Known && strings.Contains(w.Text, "/") && !filepath.IsAbs(w.Text) && files.IsRegular(filepath.Join(root, w.Text)):
				return w.Text, true
			}
		}
	}
	return "", false
}
