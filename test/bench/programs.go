//go:build unix

package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// What a hook of a row does: it reads its event and ends, or it answers each line with
// the line's id, so that it fits every mode.
const (
	silent    = "silent"
	answering = "answering"
)

// languages are what hooks are written in. "c" is C without a C library, since glibc's
// start is most of such a hook; "glibc" is the same with it.
var languages = []string{"c", "glibc", "sh", "python", "node"}

// scripts are the hooks in languages that bring an interpreter. A silent hook in sh
// does not read an event that fits into a pipe, as it would have to start cat for that.
var scripts = map[string]string{
	"sh/silent": ":\n",
	"sh/answering": `while IFS= read -r line; do
	id=${line#*'"id":"'}
	printf '{"id":"%s","action":"observe"}\n' "${id%%\"*}"
done
`,
	"python/silent": "import sys\nsys.stdin.buffer.read()\n",
	"python/answering": `import sys
for line in sys.stdin.buffer:
    at = line.index(b'"id":"') + 6
    sys.stdout.buffer.write(b'{"id":"%s","action":"observe"}\n' % line[at:line.index(b'"', at)])
    sys.stdout.buffer.flush()
`,
	"node/silent": "process.stdin.resume()\n",
	"node/answering": `let head = ''
process.stdin.on('data', chunk => {
  if (head.length < 4096) head += chunk.toString('latin1', 0, 4096)
  if (chunk[chunk.length - 1] !== 10) return
  const at = head.indexOf('"id":"') + 6
  process.stdout.write('{"id":"' + head.slice(at, head.indexOf('"', at)) + '","action":"observe"}\n')
  head = ''
})
`,
}

// interpreters are asked for their own path: one that is found on PATH may be a shell
// script that looks for the real one.
var interpreters = map[string][]string{
	"sh":     {"/bin/sh", "-c", "echo /bin/sh"},
	"python": {"python3", "-c", "import sys; print(sys.executable)"},
	"node":   {"node", "-p", "process.execPath"},
}

// bareFlags build a program without a C library. Its system calls are written for
// Linux on two machines.
var bareFlags = []string{"-static", "-nostdlib", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-DBARE"}

// hook is the program of a hook. One that cannot be built here is a [skip].
func (k *kit) hook(ctx context.Context, language, what string) (string, error) {
	source := map[string]string{silent: "noop.c", answering: "answer.c"}[what]
	switch language {
	case "c":
		if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
			return "", skipf("hooks without a C library are written for Linux on amd64 and arm64")
		}
		return k.compile(ctx, source, "c-"+what, bareFlags...)
	case "glibc":
		return k.compile(ctx, source, "glibc-"+what)
	}
	return k.script(ctx, language, what)
}

func (k *kit) script(ctx context.Context, language, what string) (string, error) {
	path := filepath.Join(k.folder, language+"-"+what)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	ask := interpreters[language]
	out, err := exec.CommandContext(ctx, ask[0], ask[1:]...).Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", skipf("%s is not on this machine", ask[0])
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", ask[0], err)
	}
	interpreter, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)))
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte("#!"+interpreter+"\n"+scripts[language+"/"+what]), 0o755)
}

//go:embed native
var nativeFiles embed.FS

// compile builds a C program from the folder native.
func (k *kit) compile(ctx context.Context, source, name string, flags ...string) (string, error) {
	if path := k.built[name]; path != "" {
		return path, nil
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		return "", skipf("there is no C compiler")
	}
	if err := os.CopyFS(k.folder, nativeFiles); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	path := filepath.Join(k.folder, name)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	// It is not killed in the middle: it would leave its files and its children.
	command := exec.Command(cc, append(append([]string{"-O2", "-o", path}, flags...), filepath.Join(k.folder, "native", source))...)
	command.Env = append(os.Environ(), "TMPDIR="+k.folder)
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile %s: %w: %s", source, err, bytes.TrimSpace(out))
	}
	k.built[name] = path
	return path, nil
}

// hookd is the real program, built as releases are; the tag lean leaves the agent
// loop out.
func (k *kit) hookd(ctx context.Context, tag string) (string, error) {
	return k.goProgram(ctx, "hookd"+tag, "-tags", tag, "github.com/hookd-dev/hookd/cmd/hookd")
}

// goProgram builds a Go program as releases are.
func (k *kit) goProgram(ctx context.Context, name string, args ...string) (string, error) {
	if path := k.built[name]; path != "" {
		return path, nil
	}
	path := filepath.Join(k.folder, name)
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", path}, args...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "TMPDIR="+k.folder)
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) } // so that it ends what it started
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", name, err, out)
	}
	k.built[name] = path
	return path, nil
}
