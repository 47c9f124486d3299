package loader

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
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
	path, rest, _ := strings.Cut(strings.ReplaceAll(p.words, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	if _, err := stat(path); err != nil {
		return path, notFound(path, "install it, or name another interpreter")
	}
	if filepath.Base(path) != "env" {
		return path, nil
	}
	name, bad := envTarget(rest)
	if bad != nil {
		return path, bad
	}
	found := lookPath(name, searchPath)
	if found == "" {
		return name, notFound(name, "install it, or name its folder in hooks.path")
	}
	return found, nil
}

func notFound(name, remedy string) *trouble {
	return &trouble{fmt.Sprintf("the interpreter %s was not found", name), remedy}
}

// envTarget returns the program that env will start. Without -S the kernel hands
// env all the rest as one word.
func envTarget(rest string) (string, *trouble) {
	words := strings.Fields(rest)
	split := len(words) > 0 && (words[0] == "-S" || words[0] == "--split-string")
	if split {
		words = words[1:]
	} else if len(words) > 0 && strings.HasPrefix(words[0], "-S") {
		words[0], split = strings.TrimPrefix(words[0], "-S"), true
	}
	for split && len(words) > 0 && strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "PATH=") {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		return "", &trouble{"the interpreter line names no program behind env", "write for example #!/usr/bin/env python3"}
	case !split && len(words) > 1:
		return "", &trouble{"env looks for one program with blanks in its name: " + rest, "write #!/usr/bin/env -S " + rest}
	case strings.HasPrefix(words[0], "-") || strings.ContainsAny(words[0], "=\"'\\$"):
		return "", &trouble{"hookd cannot tell which program env will start: " + rest, "name the interpreter plainly, for example #!/usr/bin/env python3"}
	}
	return words[0], nil
}

// projectWord returns the first argument of the interpreter line that leads into
// the project: "#!/bin/sh x.sh" runs x.sh of the working directory, whatever the
// hook's own file says. It is "" if there is none.
func (p program) projectWord(in place) string {
	for _, word := range p.arguments() {
		value := optionValue(word)
		for _, path := range []string{word, value} {
			if path == "" || strings.HasPrefix(path, "-") {
				continue
			}
			if _, inside := insideProject(in.root, path); inside {
				return word
			}
			if filepath.IsAbs(path) {
				continue
			}
			// A plain word is a path only if there is such a file: run, pipefail.
			where := filepath.Join(in.root, path)
			in.see(where, nil)
			if st, err := stat(where); err == nil && (st.Mode.IsRegular() || path == value) {
				return word
			}
		}
	}
	return ""
}

// arguments are the words behind the program that the line starts.
func (p program) arguments() []string {
	words := strings.Fields(p.words)
	if len(words) == 0 {
		return nil
	}
	rest := words[1:]
	if name, bad := envTarget(strings.Join(rest, " ")); filepath.Base(words[0]) == "env" && bad == nil {
		rest = rest[slices.Index(rest, name)+1:] // looked for on PATH
	}
	return rest
}

// optionValue is what an option may carry: -Ilib, --require=./x.js.
func optionValue(word string) string {
	if _, value, ok := strings.Cut(word, "="); ok {
		return value
	}
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && len(word) > 2 {
		return word[2:]
	}
	return ""
}

// lookPath finds a program in a list of folders, as execvp does, without looking
// at this process's own PATH. It returns "" if there is none.
func lookPath(name, searchPath string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		if st, err := stat(name); err == nil && st.Mode.IsRegular() && mayExecute(name, st) {
			return name
		}
		return ""
	}
	for _, dir := range filepath.SplitList(searchPath) {
		if !filepath.IsAbs(dir) {
			continue
		}
		candidate := filepath.Join(dir, name)
		if st, err := stat(candidate); err == nil && st.Mode.IsRegular() && mayExecute(candidate, st) {
			return candidate
		}
	}
	return ""
}
