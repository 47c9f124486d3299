package main

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed formula.rb.tmpl
var formulaText string

//go:embed Containerfile.tmpl
var containerText string

// published returns what lies beside the archives: the install script, and a formula and
// a container file with the names and sums of exactly these archives.
func (s *source) published(archives []member) (files []member, err error) {
	script, err := os.ReadFile(filepath.Join(s.folder, "install.sh"))
	if err != nil {
		return nil, err
	}
	files = append(files, member{name: "install.sh", data: script, mode: 0o755})
	words := s.words(archives)
	if len(words.Systems) > 0 {
		formula, err := fill("hookd.rb", formulaText, words)
		if err != nil {
			return nil, err
		}
		files = append(files, formula)
	}
	container, err := fill("Containerfile", containerText, words)
	if err != nil {
		return nil, err
	}
	return append(files, container), nil
}

// words are what the two templates name.
type words struct {
	Version, Linked, Commit, Summary, Module string
	Downloads                                string // the folder of this release
	Systems                                  []brewSystem
}

// brewSystem is a system in Homebrew's words, with its archives.
type brewSystem struct {
	Brew     string // macos
	Archives []brewArchive
}

type brewArchive struct{ Brew, Name, Sum string } // Brew is the processor: arm, intel

func (s *source) words(archives []member) words {
	w := words{
		Version: s.version, Linked: s.linked(), Commit: s.commit, Summary: summary, Module: module,
		Downloads: "https://" + module + "/releases/download/v" + s.version,
	}
	for _, system := range []struct{ os, brew string }{{"darwin", "macos"}, {"linux", "linux"}} {
		of := brewSystem{Brew: system.brew}
		for _, processor := range []struct{ arch, brew string }{{"arm64", "arm"}, {"amd64", "intel"}} {
			for _, a := range archives {
				if strings.HasPrefix(a.name, s.archiveName(target{system.os, processor.arch})+".") {
					of.Archives = append(of.Archives, brewArchive{processor.brew, a.name, sum(a.data)})
				}
			}
		}
		if len(of.Archives) > 0 {
			w.Systems = append(w.Systems, of)
		}
	}
	return w
}

func fill(name, text string, w words) (member, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return member{}, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, w)
	return member{name: name, data: out.Bytes(), mode: 0o644}, err
}
