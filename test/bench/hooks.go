//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// language is what hooks are written in.
type language struct {
	name string
	// noop is a hook that reads its event and has nothing to say, and answer one
	// that answers each line with its id, so that it fits every mode.
	noop, answer string
	// pass is noop for an event that fits into a pipe: a hook in sh that has
	// nothing to say starts no other program to read it.
	pass    string
	missing error // why there are no such hooks here
}

// noopFor is the hook with nothing to say for an event of a size.
func (l *language) noopFor(size int) string {
	if l.pass != "" && size <= 4<<10 {
		return l.pass
	}
	return l.noop
}

// Programs in languages that bring their own interpreter. Each begins with the
// path of the real one: one found on PATH may be a shell script that looks for it.
const (
	shPass   = ":\n"
	shNoop   = "exec cat >/dev/null\n"
	shAnswer = `while IFS= read -r line; do
	id=${line#*'"id":"'}
	printf '{"id":"%s","action":"observe"}\n' "${id%%\"*}"
done
`
	pythonNoop   = "import sys\nsys.stdin.buffer.read()\n"
	pythonAnswer = `import sys
for line in sys.stdin.buffer:
    at = line.index(b'"id":"') + 6
    sys.stdout.buffer.write(b'{"id":"%s","action":"observe"}\n' % line[at:line.index(b'"', at)])
    sys.stdout.buffer.flush()
`
	nodeNoop   = "process.stdin.resume()\n"
	nodeAnswer = `let head = ''
process.stdin.on('data', chunk => {
  if (head.length < 4096) head += chunk.toString('latin1', 0, 4096)
  if (chunk[chunk.length - 1] !== 10) return
  const at = head.indexOf('"id":"') + 6
  process.stdout.write('{"id":"' + head.slice(at, head.indexOf('"', at)) + '","action":"observe"}\n')
  head = ''
})
`
)

// interpreterOf finds the program that a language is run by, and asks it for
// its own path.
func interpreterOf(ctx context.Context, name string, ask ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not on this machine", name)
	}
	if len(ask) > 0 {
		out, err := exec.CommandContext(ctx, path, ask...).Output()
		if err != nil {
			return "", fmt.Errorf("%s does not run: %w", name, err)
		}
		path = strings.TrimSpace(string(out))
	}
	return filepath.EvalSymlinks(path)
}

// buildLanguages makes the hooks of every language in a folder.
func buildLanguages(ctx context.Context, folder string) []*language {
	bare, glibc := &language{name: "c"}, &language{name: "glibc"}
	if bare.missing = bareWorksHere(); bare.missing == nil {
		bare.compile(ctx, folder, bareFlags...)
	}
	glibc.compile(ctx, folder)
	sh := &language{name: "sh"}
	sh.script(ctx, folder, shNoop, shAnswer, "sh")
	if sh.missing == nil {
		sh.pass = filepath.Join(folder, "sh-pass")
		sh.missing = writeScript(sh.pass, "/bin/sh", shPass)
	}
	python, node := &language{name: "python"}, &language{name: "node"}
	python.script(ctx, folder, pythonNoop, pythonAnswer, "python3", "-c", "import sys; print(sys.executable)")
	node.script(ctx, folder, nodeNoop, nodeAnswer, "node", "-p", "process.execPath")
	return []*language{bare, glibc, sh, python, node}
}

func (l *language) compile(ctx context.Context, folder string, flags ...string) {
	if l.noop, l.missing = compile(ctx, folder, "noop.c", l.name+"-noop", flags...); l.missing == nil {
		l.answer, l.missing = compile(ctx, folder, "answer.c", l.name+"-answer", flags...)
	}
}

func (l *language) script(ctx context.Context, folder, noop, answer, interpreter string, ask ...string) {
	path := "/bin/sh"
	if interpreter != "sh" {
		if path, l.missing = interpreterOf(ctx, interpreter, ask...); l.missing != nil {
			return
		}
	}
	l.noop, l.answer = filepath.Join(folder, l.name+"-noop"), filepath.Join(folder, l.name+"-answer")
	if l.missing = writeScript(l.noop, path, noop); l.missing == nil {
		l.missing = writeScript(l.answer, path, answer)
	}
}

func writeScript(path, interpreter, text string) error {
	return os.WriteFile(path, []byte("#!"+interpreter+"\n"+text), 0o755)
}
