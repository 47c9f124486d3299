package loader

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
)

// Duplicates names the hooks that are one and the same: one file under several names, or
// files with the same content, asked with the same arguments about the same events. Each
// of them runs, which is seldom meant. It is for check, and nothing depends on it.
func Duplicates(s *Snapshot) []schema.Finding {
	type copies struct{ hooks []*Info }
	var order []string
	groups := map[string]*copies{}
	for i := range s.Hooks {
		h := &s.Hooks[i]
		if h.Status != executor.Ready && h.Status != executor.Untrusted && h.Status != executor.Changed {
			continue
		}
		file, args := programOf(h, s.Project)
		sum := contentOf(file)
		if sum == "" {
			continue
		}
		key := sum + strings.Join(args, "\x00")
		if groups[key] == nil {
			groups[key] = &copies{}
			order = append(order, key)
		}
		groups[key].hooks = append(groups[key].hooks, h)
	}
	var findings []schema.Finding
	for _, key := range order {
		if hooks := groups[key].hooks; len(hooks) > 1 && sharesEvent(hooks) {
			findings = append(findings, duplicated(hooks))
		}
	}
	return findings
}

// programOf is the file whose code a hook is, and the arguments it gets. Of a command
// that starts with an interpreter it is the first argument that is a file.
func programOf(h *Info, project string) (file string, args []string) {
	if len(h.Command) == 0 {
		return h.Path, h.Args
	}
	if h.Path != "" {
		return h.Path, append(slices.Clone(h.Command[1:]), h.Args...)
	}
	for i, word := range h.Command[1:] {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(project, path)
		}
		if contentOf(path) != "" {
			return path, append(slices.Clone(h.Command[i+2:]), h.Args...)
		}
	}
	return "", nil
}

// contentOf returns a hash of a file's content, "" if it cannot be read or is too large to
// be somebody's script.
func contentOf(file string) string {
	if file == "" {
		return ""
	}
	f, st, err := files.OpenRegular(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	if st.Size == 0 || st.Size > maxAdvised {
		return ""
	}
	text, err := files.ReadSized(f, st.Size)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// sharesEvent reports whether two of the hooks are asked about one event, or it is not
// known yet what one of them is asked about.
func sharesEvent(hooks []*Info) bool {
	for i, h := range hooks {
		for _, other := range hooks[i+1:] {
			if len(h.Events) == 0 || len(other.Events) == 0 {
				return true
			}
			for _, event := range h.Events {
				if slices.Contains(other.Events, event) {
					return true
				}
			}
		}
	}
	return false
}

func duplicated(hooks []*Info) schema.Finding {
	names := make([]string, len(hooks))
	for i, h := range hooks {
		where := h.Path
		if where == "" {
			where = strings.Join(h.Command, " ")
		}
		names[i] = fmt.Sprintf("%s (%s, %s)", h.Name, h.Layer, where)
	}
	return report.New(report.SameHook, hooks[0].Path, 0, hooks[0].Name,
		fmt.Sprintf("%d hooks are the same program, and each of them runs: %s", len(hooks), strings.Join(names, ", ")),
		"remove all but one, or give each events or arguments of its own")
}
