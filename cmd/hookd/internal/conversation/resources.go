package conversation

import (
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/skill"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema"
)

// skillsOf returns the skills that a loop on an engine may use.
func skillsOf(e *engine.Engine) []skill.File {
	if w := e.Watcher(); w != nil {
		return skillFiles(w.Snapshot())
	}
	return nil
}

// skillFiles returns the skills of a snapshot that the loop may use.
func skillFiles(s *loader.Snapshot) []skill.File {
	var files []skill.File
	for _, m := range s.Resources {
		if m.Kind == loader.KindSkill && m.Use != "" {
			files = append(files, skill.File{Name: m.Name, Path: m.Use, Origin: m.Path, Layer: m.Layer, Beside: m.Files})
		}
	}
	return files
}

// recipeFiles returns the recipes of a snapshot that the loop may use. Those of the
// program itself are not among them.
func recipeFiles(s *loader.Snapshot) []recipe.File {
	var files []recipe.File
	for _, m := range s.Resources {
		if m.Kind == loader.KindRecipe && m.Use != "" {
			files = append(files, recipe.File{Name: m.Name, Path: m.Use, Layer: m.Layer})
		}
	}
	return files
}

// JudgeResources finds skills and recipes whose front matter cannot be read, and adds
// that to the snapshot. No other goroutine may use the snapshot meanwhile.
func JudgeResources(s *loader.Snapshot) {
	s.Resources = slices.Clone(s.Resources)
	add := func(use, name string, kind loader.Kind, line int, message string, broken bool) {
		f := schema.Finding{
			Severity: schema.SeverityWarning, Code: string(loader.CodeResourceUnusable), File: use,
			Message: fmt.Sprintf("the %s %s: %s", kind, name, message), Remedy: resourceRemedy,
		}
		if line > 0 {
			f.Line = &line
		}
		if broken {
			f.Severity = schema.SeverityError
		}
		for i := range s.Resources {
			m := &s.Resources[i]
			if m.Kind != kind || m.Use != use && m.Path != use {
				continue
			}
			f.File = m.Path
			if broken {
				m.Status, m.Why = executor.Broken, message
				if line > 0 {
					m.Why = fmt.Sprintf("line %d: %s", line, message)
				}
			}
		}
		s.Findings = append(slices.Clip(s.Findings), f)
	}
	_, findings := recipe.New(recipeFiles(s)...)
	for _, f := range findings {
		add(f.Path, f.Recipe, loader.KindRecipe, f.Line, f.Message, f.Error)
	}
	for _, file := range skillFiles(s) {
		used, problems := skill.Read([]skill.File{file})
		for _, p := range problems {
			add(file.Path, file.Name, loader.KindSkill, p.Line, p.Message, len(used) == 0)
		}
	}
}

// resourceRemedy is what to do about a skill or recipe that cannot be read.
const resourceRemedy = "mend that line: a front matter is a line ---, lines like name: value, and a line ---"

// Skills returns the skills that the model may use.
func (c *Conversation) Skills() (list []Named) {
	used, _ := skill.Read(skillsOf(c.Engine))
	for _, s := range used {
		list = append(list, Named{Name: s.Name, Description: s.Description})
	}
	return list
}
