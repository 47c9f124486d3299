//go:build !lean

package main

import (
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/skill"
	"github.com/hookd-dev/hookd/loader"
)

// skills are the skills that a loop on this engine may use.
func (e *engine) skills() []skill.File {
	if watcher, watches := e.source.(*loader.Watcher); watches {
		return skillFiles(watcher.Snapshot())
	}
	return nil
}

// skillFiles are the skills that the loop may use.
func skillFiles(s *loader.Snapshot) []skill.File {
	var files []skill.File
	for _, m := range s.Materials {
		if m.Kind == loader.KindSkill && m.Use != "" {
			files = append(files, skill.File{Name: m.Name, Path: m.Use, Origin: m.Path, Layer: m.Layer, Beside: m.Beside})
		}
	}
	return files
}

// recipeFiles are the recipes that the loop may use, besides those of the
// program itself.
func recipeFiles(s *loader.Snapshot) []recipe.File {
	var files []recipe.File
	for _, m := range s.Materials {
		if m.Kind == loader.KindRecipe && m.Use != "" {
			files = append(files, recipe.File{Name: m.Name, Path: m.Use, Layer: m.Layer})
		}
	}
	return files
}
