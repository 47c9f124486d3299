package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// StartReason is why a program could not be started.
type StartReason string

const (
	FileMissing        StartReason = "file-missing"
	DirMissing         StartReason = "dir-missing"
	InterpreterMissing StartReason = "interpreter-missing"
	NoInterpreter      StartReason = "no-interpreter" // neither a program nor a script with a first line #!
	NotExecutable      StartReason = "not-executable"
	FileBusy           StartReason = "file-busy"
	OtherReason        StartReason = "other"
)

// StartError is a program that could not be started. Detail says why in words
// and names the path, Remedy what to do about it ("" if nothing is known).
type StartError struct {
	Reason StartReason
	Path   string
	Detail string
	Remedy string
	Err    error // from the system
}

func (e *StartError) Error() string { return e.Detail }
func (e *StartError) Unwrap() error { return e.Err }

// explain turns the system's error into words. The system gives one number for
// several troubles, so the file and the folder are looked at again; that is on
// the failing path only.
func explain(c *Command, err error) *StartError {
	e := &StartError{Reason: OtherReason, Path: c.Path, Err: err, Detail: fmt.Sprintf("cannot start %s: %v", c.Path, err)}
	var noContainer *containerError
	if errors.As(err, &noContainer) {
		return e
	}
	if c.Dir != "" {
		if info, statErr := os.Stat(c.Dir); statErr != nil || !info.IsDir() {
			e.Reason = DirMissing
			e.Detail = "working directory missing: " + c.Dir
			return e
		}
	}
	info, statErr := os.Stat(c.Path)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		e.Reason, e.Detail = FileMissing, "no such file: "+c.Path
	case errors.Is(err, syscall.ETXTBSY):
		e.Reason = FileBusy
		e.Detail = fmt.Sprintf("text file busy: %s is still open for writing in some process", c.Path)
	case statErr == nil && info.IsDir():
		e.Reason, e.Detail = NotExecutable, c.Path+" is a directory"
	case errors.Is(err, fs.ErrNotExist):
		e.explainInterpreter(c.Path)
	case errors.Is(err, syscall.ENOEXEC):
		e.Reason = NoInterpreter
		e.Detail = c.Path + " has no interpreter line and is not a program for this machine"
		e.Remedy = "write #!/bin/sh, or the interpreter it needs, as its first line"
		if statErr == nil && info.Size() == 0 {
			e.Detail = c.Path + " is empty"
		}
	case errors.Is(err, fs.ErrPermission):
		e.explainPermission(info)
	}
	return e
}

// explainInterpreter tells which program the first line of the script names.
func (e *StartError) explainInterpreter(path string) {
	e.Reason = InterpreterMissing
	line := firstLine(path)
	interpreter, ok := Interpreter(line)
	if _, err := os.Stat(interpreter); ok && err == nil {
		e.Reason = OtherReason // the system did not find something else
		return
	}
	switch {
	case !ok:
		e.Detail = fmt.Sprintf("%s needs a loader that is not on this machine", path)
	case strings.HasSuffix(line, "\r"):
		e.Detail = fmt.Sprintf("interpreter %q of %s not found: the line ends with a carriage return", interpreter, path)
		e.Remedy = "save the file with line ends of Unix (LF)"
	default:
		e.Detail = fmt.Sprintf("interpreter %s of %s not found", interpreter, path)
		e.Remedy = "install it, or correct the first line"
	}
}

func (e *StartError) explainPermission(info fs.FileInfo) {
	e.Reason = NotExecutable
	if info != nil && info.Mode().Perm()&0o111 == 0 {
		e.Detail = e.Path + " is not executable"
		e.Remedy = "chmod +x " + e.Path
		return
	}
	for _, path := range []string{e.Path, InterpreterOf(e.Path)} {
		if path != "" && NoExec(path) {
			e.Detail = e.Path + " cannot be started: " + path + " lies on a file system mounted noexec"
			e.Remedy = "move " + path + " to another file system, or mount that one with exec"
			return
		}
	}
	e.Detail = e.Path + " may not be executed"
	e.Remedy = "look at its owner and mode, its folders' and its interpreter's"
}

// Interpreter returns the interpreter that a script's first line names, blanks
// removed. ok is false when the line is no interpreter line.
func Interpreter(line string) (path string, ok bool) {
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return "", false
	}
	rest = strings.TrimLeft(rest, " \t")
	if i := strings.IndexAny(rest, " \t"); i >= 0 {
		rest = rest[:i]
	}
	return rest, rest != ""
}

// InterpreterOf returns the interpreter that the file's first line names, "" if it
// names none or cannot be read.
func InterpreterOf(path string) string {
	interpreter, _ := Interpreter(firstLine(path))
	return interpreter
}

// EnvInterpreter returns the program that a script asks env(1) to find, as in
// "#!/usr/bin/env -S python3 -u". ok is false for any other file.
func EnvInterpreter(path string) (name string, ok bool) {
	line := strings.TrimSuffix(firstLine(path), "\r")
	interpreter, ok := Interpreter(line)
	if !ok || filepath.Base(interpreter) != "env" {
		return "", false
	}
	_, rest, _ := strings.Cut(line, interpreter)
	for _, word := range strings.Fields(rest) {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue // an option, or a variable that env sets
		}
		return word, true
	}
	return "", false
}

// OnPath reports whether a program of that name can be found on a PATH.
func OnPath(name, path string) bool {
	folders := filepath.SplitList(path)
	if strings.ContainsRune(name, filepath.Separator) {
		folders = []string{""}
	}
	for _, folder := range folders {
		info, err := os.Stat(filepath.Join(folder, name))
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return true
		}
	}
	return false
}

// firstLine reads the first line of a file, as far as a kernel looks (256
// bytes), without its newline; "" if it cannot be read.
func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := bytes.Cut(head[:n], []byte{'\n'})
	return string(line)
}
