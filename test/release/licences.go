package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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

// What go list prints of each linked package: its folder, then path, version and folder of
// the module that is linked, which may stand in for another.
const listForm = `{{$d := .Dir}}{{with .Module}}{{if not .Main}}{{with or .Replace .}}{{printf "%s\t%s\t%s\t%s" $d .Path .Version .Dir}}{{end}}{{end}}{{end}}`

// linkedModules returns those of a target, without our own.
func (b *builder) linkedModules(ctx context.Context, t target) (modules []linkedModule, err error) {
	args := append([]string{"list", "-deps", "-f", listForm}, packages()...)
	out, err := run(ctx, b.folder, b.env(t), "go", args...)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for row := range strings.Lines(out) {
		words := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(words) != 4 {
			return nil, fmt.Errorf("go list says %q", row)
		}
		m := linkedModule{path: words[1], version: words[2], dir: words[3]}
		if _, known := at[m.path]; !known {
			at[m.path] = len(modules)
			modules = append(modules, m)
		}
		modules[at[m.path]].packages = append(modules[at[m.path]].packages, words[0])
	}
	return modules, nil
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
	return startsWithOneOf(filepath.Base(name), "license", "licence", "unlicense", "copying")
}

// isNotice reports whether a file of that name must be passed on with the licence, or is it.
func isNotice(name string) bool {
	return isLicence(name) || startsWithOneOf(name, "notice", "patents", "authors", "contributors", "copyright")
}

// startsWithOneOf reports whether a file's name is one of the words, or goes on after it as
// LICENSE-MIT and License.txt do. Code is none.
func startsWithOneOf(name string, words ...string) bool {
	name = strings.ToLower(name)
	return !strings.HasSuffix(name, ".go") && slices.ContainsFunc(words, func(word string) bool {
		rest, is := strings.CutPrefix(name, word)
		return is && (rest == "" || strings.ContainsAny(rest[:1], "-_."))
	})
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
