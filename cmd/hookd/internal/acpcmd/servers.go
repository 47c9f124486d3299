package acpcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor/acpproxy"
)

// server returns the command line that starts an MCP server so that the hooks of its session judge
// its calls. One that is guarded already is started by this very program: which one the agent
// would find is for the environment of the server to say.
func (h *hooks) server(o acpproxy.Server) []string {
	line := []string{places.Program()}
	if o.Project != "" {
		line = append(line, "--project", o.Project)
	}
	line = append(line, "mcp")
	for _, folder := range h.besides(o.Project, o.Folders) {
		line = append(line, "--also", folder)
	}
	if o.URL == "" && isGuard(o.Args) && isProgram(o.Command, line[0]) {
		return append(line, o.Args[1:]...)
	}
	line = append(line, "--name", o.Name)
	if o.URL == "" {
		return append(append(line, "--", o.Command), o.Args...)
	}
	line = append(line, "--url", o.URL)
	for _, header := range o.Headers {
		line = append(line, "--header", header)
	}
	return line
}

// besides returns the folders whose projects count besides the one that is named.
func (h *hooks) besides(project string, folders []string) (others []string) {
	if project == "" || h.opener.Project.Folder != "" {
		return nil
	}
	for i, folder := range h.with(folders) {
		below, err := filepath.Rel(project, folder)
		if named := err == nil && (below == "." || i == 0 && filepath.IsLocal(below)); !named {
			others = append(others, folder)
		}
	}
	return others
}

// isGuard reports whether args of hookd guard an MCP server as we would. With other flags,
// such as another project, it is a server like any other.
func isGuard(args []string) bool {
	switch {
	case len(args) > 4 && args[0] == "mcp" && args[1] == "--name":
		return args[3] == "--"
	case len(args) > 3 && args[0] == "mcp" && strings.HasPrefix(args[1], "--name="):
		return args[2] == "--"
	}
	return len(args) > 2 && args[0] == "mcp" && args[1] == "--"
}

// isProgram reports whether a command starts a program.
func isProgram(command, program string) bool {
	path, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(program)
	return err == nil && os.SameFile(a, b)
}
