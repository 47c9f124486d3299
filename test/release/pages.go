package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/test/release/manual"
)

// summary is what hookd is in one line, for the manual and the formula.
const summary = "Deterministic control over AI agents, by programs that answer their events"

// completions are the files that shells look for, by the name that hookd has for the shell.
var completions = map[string]string{
	"bash": "hookd.bash", "zsh": "_hookd", "fish": "hookd.fish", "powershell": "hookd.ps1",
}

// pages returns manual pages and completions. They are the same for all systems; the
// program of this one prints them.
func (b *builder) pages(ctx context.Context) (files []member, err error) {
	folder, err := b.compile(ctx, host())
	if err != nil {
		return nil, err
	}
	home := filepath.Join(b.temp, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		return nil, err
	}
	// Nothing of the person who makes the release is in the pages.
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "XDG_STATE_HOME=" + home, "LC_ALL=C", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	hookd := func(args ...string) (string, error) {
		return run(ctx, home, env, filepath.Join(folder, "hookd"+host().exe()), args...)
	}
	book := manual.Book{
		Program: "hookd", Summary: summary, Version: b.version, Date: b.time,
		Help: func(commands ...string) (string, error) { return hookd(append(commands, "--help")...) },
	}
	pages, err := book.Pages()
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		files = append(files, member{name: "man/" + p.Name + ".1", data: []byte(p.Text), mode: 0o644})
	}
	for shell, name := range completions {
		script, err := hookd("completion", shell)
		if err != nil {
			return nil, err
		}
		if script == "" {
			return nil, fmt.Errorf("hookd has no completion for %s", shell)
		}
		files = append(files, member{name: "completions/" + name, data: []byte(script + "\n"), mode: 0o644})
	}
	return files, nil
}
