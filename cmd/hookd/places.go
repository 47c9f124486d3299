//go:build !lean

package main

import (
	"os"
	"os/user"
	"path/filepath"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/loader"
)

// places are what the file tools may touch: the project, without the hooks, settings
// and records of every layer. What git reads of the user is only read: a program
// named there is run by anyone who calls git, hooks among them.
func (e *engine) places() tool.Folder {
	folder := tool.Folder{Project: e.root, Refused: []string{loader.ManagedDir}}
	if e.stateDir != "" {
		folder.Refused = append(folder.Refused, e.stateDir)
		folder.Locks = filepath.Join(e.stateDir, "file-locks")
	}
	homes := []string{os.Getenv("HOME")}
	if home, err := os.UserHomeDir(); err == nil {
		homes = append(homes, home)
	}
	if account, err := user.Current(); err == nil { // whatever HOME says
		homes = append(homes, account.HomeDir)
	}
	configs := []string{os.Getenv("XDG_CONFIG_HOME")}
	for _, home := range homes {
		if !filepath.IsAbs(home) {
			continue
		}
		folder.Refused = append(folder.Refused, filepath.Join(home, ".acai"))
		folder.Unwritten = append(folder.Unwritten, filepath.Join(home, ".gitconfig"))
		configs = append(configs, filepath.Join(home, ".config"))
	}
	for _, config := range configs {
		if filepath.IsAbs(config) {
			folder.Unwritten = append(folder.Unwritten, filepath.Join(config, "git"))
		}
	}
	return folder
}
