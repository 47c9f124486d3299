package loader

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// A trouble is why a file cannot run, and what to do about it.
type trouble struct {
	why, remedy string
}

func (t *trouble) String() string { return t.why }

// program is what the first bytes of a file say about how it starts.
type program struct {
	binary bool   // machine code: started by the kernel itself
	words  string // of a script: what follows #!, without the line end
}

// maxInterpreterLine is how much of the first line the Linux kernel reads; the
// rest would be cut off without a word.
const maxInterpreterLine = 255

var binaryMagic = [][]byte{
	[]byte("\x7fELF"),
	{0xfe, 0xed, 0xfa, 0xce}, {0xfe, 0xed, 0xfa, 0xcf}, // Mach-O, big end first
	{0xce, 0xfa, 0xed, 0xfe}, {0xcf, 0xfa, 0xed, 0xfe}, // Mach-O, little end first
	{0xca, 0xfe, 0xba, 0xbe}, // Mach-O for several machines
	[]byte("MZ"),             // Windows
}

// readProgram looks at a file's first bytes.
func readProgram(head []byte) (program, *trouble) {
	if len(head) == 0 {
		return program{}, &trouble{"the file is empty", "write the hook, or remove the file"}
	}
	for _, magic := range binaryMagic {
		if bytes.HasPrefix(head, magic) {
			return program{binary: true}, nil
		}
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf#!")) {
		return program{}, &trouble{"a byte order mark stands before the interpreter line", "save the file as UTF-8 without BOM"}
	}
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return program{}, &trouble{"the file has no interpreter line", "make its first line name the interpreter, for example #!/bin/sh"}
	}
	line, _, ended := bytes.Cut(line, []byte("\n"))
	if len(line)+len("#!") > maxInterpreterLine || (!ended && len(head) >= headLimit) {
		return program{}, &trouble{fmt.Sprintf("the interpreter line is longer than %d bytes", maxInterpreterLine), "shorten it"}
	}
	if bytes.HasSuffix(line, []byte("\r")) {
		return program{}, &trouble{"the interpreter line ends with a carriage return (a Windows line end)", "save the file with LF line ends, for example: sed -i 's/\\r$//' FILE"}
	}
	words := strings.Trim(string(line), " \t")
	switch {
	case words == "":
		return program{}, &trouble{"the interpreter line names no interpreter", "write for example #!/bin/sh"}
	case strings.ContainsRune(words, 0):
		return program{}, &trouble{"the interpreter line holds a NUL byte", "write for example #!/bin/sh"}
	case !filepath.IsAbs(words):
		return program{}, &trouble{"the interpreter is not named by an absolute path", "write for example #!/bin/sh, or #!/usr/bin/env NAME"}
	}
	return program{words: words}, nil
}

// interpreter finds the program that a script's first line leads to: its path as
// written, after looking through env. searchPath is the PATH the hook will get.
func (p program) interpreter(searchPath string) (path string, bad *trouble) {
	if p.binary {
		return "", nil
	}
	l, bad := p.line()
	if _, err := stat(l.first); err != nil {
		return l.first, notFound(l.first, "install it, or name another interpreter")
	}
	if bad != nil || l.name == "" {
		return l.first, bad
	}
	found := lookPath(l.name, searchPath)
	if found == "" {
		return l.name, notFound(l.name, "install it, or name its folder in hooks.path")
	}
	return found, nil
}

func notFound(name, remedy string) *trouble {
	return &trouble{fmt.Sprintf("the interpreter %s was not found", name), remedy}
}

// firstWords are an interpreter line, taken apart as the kernel and env(1) do it.
type firstWords struct {
	first string   // the program that the line names, absolute
	name  string   // what env looks for on PATH; "" if first is the interpreter itself
	sets  []string // variables that env sets
	args  []string // between the interpreter and the script
	vague bool     // args are written in a way that only env itself reads for sure
}

// starter is what the line calls its interpreter.
func (l *firstWords) starter() string { return cmp.Or(l.name, l.first) }

// line takes the interpreter line apart. Without -S the kernel hands env all the
// rest as one word.
func (p program) line() (l firstWords, bad *trouble) {
	var rest string
	l.first, rest, _ = strings.Cut(strings.ReplaceAll(p.words, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	if filepath.Base(l.first) != "env" {
		switch {
		case rest == "":
		case runtime.GOOS == "darwin":
			l.args = strings.Fields(rest)
		default:
			l.args = []string{rest} // whatever blanks are in it
		}
		return l, nil
	}
	words := strings.Fields(rest)
	split := len(words) > 0 && (strings.HasPrefix(words[0], "-S") || words[0] == "--split-string")
	if split {
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(rest, "--split-string"), "-S"))
		words, l.vague = splitWords(rest)
	}
	for split && len(words) > 0 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "PATH=") && !strings.HasPrefix(words[0], "-") {
		l.sets, words = append(l.sets, words[0]), words[1:]
	}
	switch {
	case len(words) == 0:
		return l, &trouble{"the interpreter line names no program behind env", "write for example #!/usr/bin/env python3"}
	case !split && len(words) > 1:
		return l, &trouble{"env looks for one program with blanks in its name: " + rest, "write #!/usr/bin/env -S " + rest}
	case strings.HasPrefix(words[0], "-") || strings.ContainsAny(words[0], "=\"'\\$"):
		return l, &trouble{"hookd cannot tell which program env will start: " + rest, "name the interpreter plainly, for example #!/usr/bin/env python3"}
	}
	l.name, l.args = words[0], words[1:]
	return l, nil
}

// splitWords splits as env -S does, quotes included. vague says that there is
// something in the text that only env reads for sure.
func splitWords(text string) (words []string, vague bool) {
	if strings.ContainsAny(text, "\\$#") {
		return strings.Fields(text), true
	}
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote == 0 && c == ' ':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, quote != 0
}

// lookPath finds a program in a list of folders, as execvp does, without looking
// at this process's own PATH. It returns "" if there is none.
func lookPath(name, searchPath string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		if isProgram(name) {
			return name
		}
		return ""
	}
	for _, dir := range filepath.SplitList(searchPath) {
		if candidate := filepath.Join(dir, name); filepath.IsAbs(dir) && isProgram(candidate) {
			return candidate
		}
	}
	return ""
}

func isProgram(path string) bool {
	st, err := stat(path)
	return err == nil && st.Mode.IsRegular() && mayExecute(path, st)
}
