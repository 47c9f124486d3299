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
)

//go:embed native
var nativeFiles embed.FS

// errNoCompiler is why the floor and the C hooks are left out.
var errNoCompiler = errors.New("no C compiler: neither the floor nor the hooks in C can be built")

// compile builds a C program from the folder native.
func compile(ctx context.Context, folder, source, name string, flags ...string) (string, error) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if _, err := exec.LookPath(cc); err != nil {
		return "", errNoCompiler
	}
	sources := filepath.Join(folder, "native")
	if err := os.CopyFS(sources, nativeFiles); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	program := filepath.Join(folder, name)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	// It is not killed in the middle: it would leave its files and its children.
	command := exec.Command(cc, append(append([]string{"-O2", "-o", program}, flags...), filepath.Join(sources, "native", source))...)
	command.Env = append(os.Environ(), "TMPDIR="+folder)
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile %s: %w: %s", source, err, bytes.TrimSpace(out))
	}
	return program, nil
}

// bareFlags build a program without a C library. Its system calls are written
// for two machines.
var bareFlags = []string{"-static", "-nostdlib", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-DBARE"}

func bareWorksHere() error {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return fmt.Errorf("hooks without a C library are written for Linux on amd64 and arm64, not for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return nil
}

// buildGo builds a Go program as releases are.
func buildGo(ctx context.Context, folder, program string, args ...string) error {
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", program}, args...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "TMPDIR="+folder)
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) } // so that it ends what it started
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", filepath.Base(program), err, out)
	}
	return nil
}
