// Command release makes what a release of hookd consists of: an archive for each system, with
// both programs, the licences of all that is linked into them, manual pages and completions;
// a Homebrew formula, a container file, the install script, and SHA256SUMS. The same commit
// gives the same bytes, wherever and whenever it is built.
//
//	make release          # of the tag at HEAD
//	make release-check    # builds one system twice, from two folders, and compares
//
// How one archive comes about: source.go says which version this is and refuses a tree that
// was changed; build.go compiles both programs; licences.go finds the texts for the modules
// that are in them; pages.go has the program print its help and its completions; archive.go
// packs all of it; publish.go writes the formula and the container file with the sums of the
// archives. check.go is the proof that two builds are the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const module = "github.com/hookd-dev/hookd"

// programs must lie in the same folder, on the machine as in the archive.
var programs = []string{"hookd", "hookd-bridge"}

func main() {
	out := flag.String("o", "bin/release", "`folder` that is written anew")
	only := flag.String("targets", "", "these systems only, as `GOOS/GOARCH,…` (default: all)")
	snapshot := flag.Bool("snapshot", false, "no release: name the version after the commit, and take a tree that was changed")
	check := flag.Bool("check", false, "build the first target twice, from two folders, and compare all bytes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	targets, err := parseTargets(*only)
	switch {
	case err != nil:
	case flag.NArg() > 0:
		err = fmt.Errorf("unknown argument %q", flag.Arg(0))
	case *check:
		err = checkTwice(ctx, targets[0])
	default:
		err = release(ctx, ".", *out, targets, *snapshot)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release writes a whole release of the clone in a folder to out. What was there before
// goes only when everything is made.
func release(ctx context.Context, clone, out string, targets []target, snapshot bool) error {
	git := func(args ...string) (string, error) { return run(ctx, clone, nil, "git", args...) }
	src, err := readSource(clone, git, snapshot)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "hookd-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if !snapshot {
		if err := src.cloneTo(filepath.Join(temp, "clone"), git); err != nil {
			return err
		}
	}
	b, err := newBuilder(ctx, src, temp)
	if err != nil {
		return err
	}
	fmt.Printf("hookd %s of commit %.12s, with %s\n", src.version, src.commit, b.goVersion)
	files, err := b.files(ctx, targets)
	if err != nil {
		return err
	}
	if now, err := readSource(clone, git, snapshot); err != nil || now.version != src.version {
		return errors.Join(errors.New("the clone was changed while it was built; once more"), err)
	}
	if err := replaceFolder(out, files); err != nil {
		return err
	}
	fmt.Printf("%d files in %s\n", len(files), out)
	return nil
}

// files returns all that a release consists of.
func (b *builder) files(ctx context.Context, targets []target) (files []member, err error) {
	pages, err := b.pages(ctx)
	if err != nil {
		return nil, err
	}
	texts, err := b.texts()
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		archive, err := b.archive(ctx, t, slices.Concat(pages, texts))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		fmt.Printf("%s  %5.1f MiB\n", archive.name, float64(len(archive.data))/(1<<20))
		files = append(files, archive)
	}
	more, err := b.published(files)
	if err != nil {
		return nil, err
	}
	files = append(files, more...)
	return append(files, member{name: "SHA256SUMS", data: sums(files), mode: 0o644}), nil
}

// replaceFolder writes files to a folder of that name. The folder that was there is
// removed when the new one is whole.
func replaceFolder(out string, files []member) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(out), "."+filepath.Base(out)+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(fresh, f.name), f.data, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(filepath.Join(fresh, f.name), f.mode); err != nil {
			return err
		}
	}
	if err := os.Chmod(fresh, 0o755); err != nil {
		return err
	}
	if err := refuseOther(out); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(fresh, out)
}

// refuseOther returns an error where a folder holds something else than a release: it
// would be lost.
func refuseOther(out string) error {
	entries, err := os.ReadDir(out)
	if os.IsNotExist(err) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, "SHA256SUMS")); err != nil {
		return fmt.Errorf("%s holds something that is no release (%s); name another folder with -o", out, entries[0].Name())
	}
	return nil
}

// target is a system for which there is an archive.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

var allTargets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"},
	{"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// parseTargets reads a list of systems, "" for all of them.
func parseTargets(list string) (targets []target, err error) {
	if list == "" {
		return allTargets, nil
	}
next:
	for name := range strings.SplitSeq(list, ",") {
		for _, t := range allTargets {
			if t.String() == name {
				targets = append(targets, t)
				continue next
			}
		}
		return nil, fmt.Errorf("%q is no system that hookd is released for; there are %v", name, allTargets)
	}
	return targets, nil
}
