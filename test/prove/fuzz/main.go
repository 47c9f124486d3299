// Command fuzz runs each fuzz target of the module for the time FUZZTIME (10s),
// one after the other, and says how many there were. ONLY names some of them by a
// part of "PACKAGE TARGET". Its exit code is 1 if one failed; the input that made
// it fail is then in the package's testdata/fuzz, and a regression case from there
// on.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	declared = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)
	progress = regexp.MustCompile(`execs: \d+`)
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx)
	cancel()
	os.Exit(code)
}

func run(ctx context.Context) int {
	targets, err := find(os.Getenv("ONLY"))
	if err != nil || len(targets) == 0 {
		fmt.Fprintln(os.Stderr, "fuzz: no targets:", err)
		return 1
	}
	each := cmp.Or(os.Getenv("FUZZTIME"), "10s")
	fmt.Printf("%d fuzz targets, %s each\n", len(targets), each)
	began, failed := time.Now(), 0
	for _, target := range targets {
		cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+target.name+"$", "-fuzztime", each, "-fuzzminimizetime", "10x", "./"+target.folder)
		out, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return 1
		}
		inputs := "no input"
		if all := progress.FindAll(out, -1); len(all) > 0 {
			inputs = string(all[len(all)-1])
		}
		if err == nil {
			fmt.Printf("ok    %s %s: %s\n", target.folder, target.name, inputs)
			continue
		}
		failed++
		fmt.Printf("FAIL  %s %s: %s\n%s\n", target.folder, target.name, inputs, out)
	}
	fmt.Printf("%d fuzz targets in %s, %d failed\n", len(targets), time.Since(began).Round(time.Second), failed)
	if failed > 0 {
		return 1
	}
	return 0
}

type target struct{ folder, name string }

// find looks for the fuzz targets below the working directory.
func find(only string) (targets []target, err error) {
	err = filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, match := range declared.FindAllSubmatch(text, -1) {
			t := target{filepath.ToSlash(filepath.Dir(path)), string(match[1])}
			if strings.Contains(t.folder+" "+t.name, only) {
				targets = append(targets, t)
			}
		}
		return nil
	})
	slices.SortFunc(targets, func(a, b target) int { return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.name, b.name)) })
	return targets, err
}
