package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licences are the texts of all that is linked into the programs for one system, by module.
type licences []licence

// licence is what one module asks those who pass it on to keep.
type licence struct {
	module, version string
	files           []licenceFile
}

type licenceFile struct {
	name string // below the module's folder
	text string
}

// goItself stands for the standard library, which is linked as modules are.
const goItself = "the Go standard library and runtime"

// licences reads them from the folders of exactly the packages that are linked for a
// target. A module without any text is an error.
func (b *builder) licences(ctx context.Context, t target) (licences, error) {
	modules, err := b.linkedModules(ctx, t)
	if err != nil {
		return nil, err
	}
	root, err := run(ctx, b.folder, b.env(t), "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules = append(modules, linkedModule{path: goItself, version: b.goVersion, dir: root, packages: []string{root}})
	return readLicences(modules)
}

func readLicences(modules []linkedModule) (all licences, err error) {
	for _, m := range modules {
		l := licence{module: m.path, version: m.version}
		if l.files, err = m.licenceFiles(); err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
		if !slices.ContainsFunc(l.files, func(f licenceFile) bool { return isLicence(f.name) }) {
			return nil, fmt.Errorf("%s %s is linked and has no licence in %s", m.path, m.version, m.dir)
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b licence) int { return strings.Compare(a.module, b.module) })
	return all, nil
}

// linkedModule is a module of which at least one package is linked.
type linkedModule struct {
	path, version, dir string
	packages           []string // their folders
}

// linkedModules returns those of a target, without our own.
func (b *builder) linkedModules(ctx context.Context, t target) (modules []linkedModule, err error) {
	args := append([]string{"list", "-deps", "-json=Dir,Module"}, packages()...)
	out, err := run(ctx, b.folder, b.env(t), "go", args...)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
				Replace            *struct{ Path, Version, Dir string }
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return modules, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		m := linkedModule{path: p.Module.Path, version: p.Module.Version, dir: p.Module.Dir}
		if r := p.Module.Replace; r != nil {
			m = linkedModule{path: r.Path, version: r.Version, dir: r.Dir}
		}
		if _, known := at[m.path]; !known {
			at[m.path] = len(modules)
			modules = append(modules, m)
		}
		modules[at[m.path]].packages = append(modules[at[m.path]].packages, p.Dir)
	}
}

// licenceFiles returns the texts in the module's own folder, and those in the folders of its
// linked packages and between: code that a module has copied stands there with its own.
func (m linkedModule) licenceFiles() (files []licenceFile, err error) {
	seen := map[string]bool{}
	for _, dir := range append([]string{m.dir}, m.packages...) {
		for ; !seen[dir] && strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
			seen[dir] = true
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if !e.Type().IsRegular() || !isNotice(e.Name()) {
					continue
				}
				path := filepath.Join(dir, e.Name())
				text, err := os.ReadFile(path)
				if err != nil {
					return nil, err
				}
				name, err := filepath.Rel(m.dir, path)
				if err != nil {
					return nil, err
				}
				files = append(files, licenceFile{filepath.ToSlash(name), string(text)})
			}
		}
	}
	slices.SortFunc(files, func(a, b licenceFile) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// isLicence reports whether a file of that name says what is allowed.
func isLicence(name string) bool {
	return regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)([-_.][^/]*)?$`).MatchString(filepath.Base(name)) && !strings.HasSuffix(name, ".go")
}

// isNotice reports whether a file of that name must be passed on with the licence, or is it.
func isNotice(name string) bool {
	return isLicence(name) || !strings.HasSuffix(name, ".go") &&
		regexp.MustCompile(`(?i)^(notice|patents|authors|contributors|copyright)([-_.][^/]*)?$`).MatchString(name)
}

func (l licences) has(module, version string) bool {
	return slices.ContainsFunc(l, func(one licence) bool { return one.module == module && one.version == version })
}

// text returns all of them as one page of text.
func (l licences) text() []byte {
	var b strings.Builder
	b.WriteString("hookd and hookd-bridge contain code of others. Each stands here with its licence.\n")
	for _, one := range l {
		for _, f := range one.files {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n%[1]s\n\n%[5]s\n", strings.Repeat("=", 78), one.module, one.version, f.name, strings.Trim(strings.ReplaceAll(f.text, "\r\n", "\n"), "\n"))
		}
	}
	return []byte(b.String())
}
