package interpreter

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// Program is what the first bytes of a file say about how it starts.
type Program struct {
	Binary bool   // machine code: started by the kernel itself
	Words  string // of a script: what follows #!, without the line end
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

// ReadProgram looks at a file's first bytes.
func ReadProgram(head []byte) (Program, *report.Problem) {
	if len(head) == 0 {
		return Program{}, &report.Problem{Why: "the file is empty", Remedy: "write the hook, or remove the file"}
	}
	for _, magic := range binaryMagic {
		if bytes.HasPrefix(head, magic) {
			return Program{Binary: true}, nil
		}
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf#!")) {
		return Program{}, &report.Problem{Why: "a byte order mark stands before the interpreter line", Remedy: "save the file as UTF-8 without BOM"}
	}
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	if !ok {
		return Program{}, &report.Problem{Why: "the file has no interpreter line", Remedy: "make its first line name the interpreter, for example #!/bin/sh"}
	}
	line, _, ended := bytes.Cut(line, []byte("\n"))
	if len(line)+len("#!") > maxInterpreterLine || (!ended && len(head) >= files.HeadLimit) {
		return Program{}, &report.Problem{Why: fmt.Sprintf("the interpreter line is longer than %d bytes", maxInterpreterLine), Remedy: "shorten it"}
	}
	if bytes.HasSuffix(line, []byte("\r")) {
		return Program{}, &report.Problem{Why: "the interpreter line ends with a carriage return (a Windows line end)", Remedy: "save the file with LF line ends, for example: sed -i 's/\\r$//' FILE"}
	}
	words := strings.Trim(string(line), " \t")
	switch {
	case words == "":
		return Program{}, &report.Problem{Why: "the interpreter line names no interpreter", Remedy: "write for example #!/bin/sh"}
	case strings.ContainsRune(words, 0):
		return Program{}, &report.Problem{Why: "the interpreter line holds a NUL byte", Remedy: "write for example #!/bin/sh"}
	case !filepath.IsAbs(words):
		return Program{}, &report.Problem{Why: "the interpreter is not named by an absolute path", Remedy: "write for example #!/bin/sh, or #!/usr/bin/env NAME"}
	}
	return Program{Words: words}, nil
}

// Interpreter finds the program that a script's first line leads to: its path as
// written, after looking through env. searchPath is the PATH the hook will get.
func (p Program) Interpreter(searchPath string) (path string, bad *report.Problem) {
	if p.Binary {
		return "", nil
	}
	l, bad := p.Line()
	if _, err := files.Stat(l.first); err != nil {
		return l.first, notFound(l.first, "install it, or name another interpreter")
	}
	if bad != nil || l.name == "" {
		return l.first, bad
	}
	found := LookPath(l.name, searchPath)
	if found == "" {
		return l.name, notFound(l.name, "install it, or name its folder in hooks.path")
	}
	return found, nil
}

func notFound(name, remedy string) *report.Problem {
	return &report.Problem{Why: fmt.Sprintf("the interpreter %s was not found", name), Remedy: remedy}
}

// Line are an interpreter line, taken apart as the kernel and env(1) do it.
type Line struct {
	first string   // the program that the line names, absolute
	name  string   // what env looks for on PATH; "" if first is the interpreter itself
	Sets  []string // variables that env sets
	Args  []string // between the interpreter and the script
	Vague bool     // args are written in a way that only env itself reads for sure
}

// Starter is what the line calls its interpreter.
func (l *Line) Starter() string { return cmp.Or(l.name, l.first) }

// Line takes the interpreter line apart. Without -S the kernel hands env all the
// rest as one word.
func (p Program) Line() (l Line, bad *report.Problem) {
	var rest string
	l.first, rest, _ = strings.Cut(strings.ReplaceAll(p.Words, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	if filepath.Base(l.first) != "env" {
		switch {
		case rest == "":
		case runtime.GOOS == "darwin":
			l.Args = strings.Fields(rest)
		default:
			l.Args = []string{rest} // whatever blanks are in it
		}
		return l, nil
	}
	words := strings.Fields(rest)
	split := len(words) > 0 && (strings.HasPrefix(words[0], "-S") || words[0] == "--split-string")
	if split {
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(rest, "--split-string"), "-S"))
		words, l.Vague = splitWords(rest)
	}
	for split && len(words) > 0 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "PATH=") && !strings.HasPrefix(words[0], "-") {
		l.Sets, words = append(l.Sets, words[0]), words[1:]
	}
	switch {
	case len(words) == 0:
		return l, &report.Problem{Why: "the interpreter line names no program behind env", Remedy: "write for example #!/usr/bin/env python3"}
	case !split && len(words) > 1:
		return l, &report.Problem{Why: "env looks for one program with blanks in its name: " + rest, Remedy: "write #!/usr/bin/env -S " + rest}
	case strings.HasPrefix(words[0], "-") || strings.ContainsAny(words[0], "=\"'\\$"):
		return l, &report.Problem{Why: "hookd cannot tell which program env will start: " + rest, Remedy: "name the interpreter plainly, for example #!/usr/bin/env python3"}
	}
	l.name, l.Args = words[0], words[1:]
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

// LookPath finds a program in a list of folders, as execvp does, without looking
// at this process's own PATH. It returns "" if there is none.
func LookPath(name, searchPath string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		if IsProgram(name) {
			return name
		}
		return ""
	}
	for _, dir := range filepath.SplitList(searchPath) {
		if candidate := filepath.Join(dir, name); filepath.IsAbs(dir) && IsProgram(candidate) {
			return candidate
		}
	}
	return ""
}

// IsProgram reports whether a path leads to a file that this process may run.
func IsProgram(path string) bool {
	st, err := files.Stat(path)
	return err == nil && st.Mode.IsRegular() && files.MayExecute(path, st)
}

// FirstBytes returns as much of a file as says what starts it.
func FirstBytes(path string) []byte {
	f, _, err := files.OpenRegular(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, maxInterpreterLine+1))
	return head
}
