package guarded

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// withVariables returns an environment with variables in place of those of their names.
func withVariables(env, variables []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.ContainsFunc(variables, func(own string) bool {
			other, _, _ := strings.Cut(own, "=")
			return sameName(name, other)
		})
	})
	return append(env, variables...)
}

// lookPath finds a program on the PATH among variables, else on ours.
func lookPath(name string, variables []string) (string, error) {
	if filepath.Base(name) != name {
		return exec.LookPath(name)
	}
	for _, v := range variables {
		variable, list, _ := strings.Cut(v, "=")
		if !sameName(variable, "PATH") {
			continue
		}
		for _, folder := range filepath.SplitList(list) {
			if !filepath.IsAbs(folder) { // of a folder that happens to be the working directory nothing is run
				continue
			}
			if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				return path, nil
			}
		}
		return "", &exec.Error{Name: name, Err: errors.New("not found on the PATH that the command's own env sets")}
	}
	return exec.LookPath(name)
}

// sameName reports whether two names are of one variable.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}
