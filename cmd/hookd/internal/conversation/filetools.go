package conversation

import (
	"os"
	"os/user"
	"path/filepath"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/loader"
)

// fileToolsFolder returns what the file tools may touch: the project, without the hooks,
// settings and records of every layer. The user's settings of git are only read: a program
// that they name is run by everybody who calls git, and hooks do.
func fileToolsFolder(e *engine.Engine) tool.Folder {
	folder := tool.Folder{Project: e.Root, Refused: []string{loader.ManagedDir}, State: e.StateDir}
	if e.StateDir != "" {
		folder.Locks = filepath.Join(e.StateDir, "file-locks")
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
