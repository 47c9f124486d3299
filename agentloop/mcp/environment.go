package mcp

import (
	"maps"
	"slices"
	"strings"
)

// environment is the whole environment of the server's program.
func (s *Server) environment() []string {
	env := slices.Clone(s.Environ)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		env = append(env, name+"="+s.Env[name])
	}
	return env
}
