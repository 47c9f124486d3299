package conversation

import (
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/agentloop/instruction"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/skill"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// snapshotOf returns what tells the snapshot that rules on an engine; nil if nothing is
// watched.
func snapshotOf(e *engine.Engine) func() *loader.Snapshot {
	if w := e.Watcher(); w != nil {
		return w.Snapshot
	}
	return nil
}

// skillsFrom returns what tells the skills that a loop may use at the moment. It is nil if
// there are none, and none waits to be allowed.
func skillsFrom(snapshot func() *loader.Snapshot) func() []skill.File {
	if snapshot == nil || !slices.ContainsFunc(snapshot().Resources, func(m loader.Resource) bool { return m.Kind == loader.KindSkill }) {
		return nil
	}
	return func() []skill.File { return skillFiles(snapshot()) }
}

// instructionsFrom returns what tells the instructions that a loop may use at the moment.
// Those that a session began with stay as they were read when the file changes or goes: only a
// decision of a person changes what the model is told.
func instructionsFrom(snapshot func() *loader.Snapshot) func() []instruction.File {
	if snapshot == nil {
		return nil
	}
	type key struct {
		layer protocol.Layer
		name  string
	}
	held := map[key]instruction.File{}
	return func() (files []instruction.File) {
		for _, m := range snapshot().Resources {
			if m.Kind != loader.KindInstructions {
				continue
			}
			k := key{m.Layer, m.Name}
			switch {
			case m.Use != "":
				held[k] = instruction.File{Path: m.Use, Origin: m.Path, Layer: m.Layer, Hash: m.Hash}
			case m.Status == executor.Disabled || m.Status == executor.Untrusted:
				delete(held, k)
			}
			if f, is := held[k]; is && !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
		return files
	}
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
	for i := range s.Resources {
		if m := &s.Resources[i]; m.Kind == loader.KindInstructions && m.Use != "" {
			_, problems := instruction.Read([]instruction.File{{Path: m.Use, Origin: m.Path, Layer: m.Layer}}, s.Set.Settings.Agent.Instructions.Limit)
			for _, p := range problems {
				m.Status, m.Why = executor.Broken, p.Message
				s.Findings = append(slices.Clip(s.Findings), schema.Finding{
					Severity: schema.SeverityError, Code: string(loader.CodeResourceUnusable), File: m.Path,
					Message: "the instructions are not used: " + p.Message, Remedy: p.Remedy,
				})
			}
		}
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

// TakesSkills reports whether a skill that is allowed now counts from the next prompt on. A
// conversation that began without any has no place for the first one.
func (c *Conversation) TakesSkills() bool { return c.skills }

// Skills returns the skills that the model may use.
func (c *Conversation) Skills() (list []Named) {
	files := skillsFrom(snapshotOf(c.Engine))
	if files == nil {
		return nil
	}
	used, _ := skill.Read(files())
	for _, s := range used {
		list = append(list, Named{Name: s.Name, Description: s.Description})
	}
	return list
}
