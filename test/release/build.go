package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// builder compiles the programs of one release.
type builder struct {
	*source
	temp      string // a folder to work in
	goVersion string // that go.mod names, as go1.26.8
}

// newBuilder returns a builder that uses the version of Go that go.mod names: another one
// gives other bytes.
func newBuilder(ctx context.Context, src *source, temp string) (*builder, error) {
	b := &builder{source: src, temp: temp}
	named, err := run(ctx, src.folder, nil, "go", "list", "-m", "-f", "{{.GoVersion}}", module)
	if err != nil {
		return nil, err
	}
	b.goVersion = "go" + named
	used, err := run(ctx, src.folder, b.env(allTargets[0]), "go", "env", "GOVERSION", "GOEXPERIMENT")
	if err != nil {
		return nil, fmt.Errorf("%s is needed, as go.mod says: %w", b.goVersion, err)
	}
	if used = strings.TrimSpace(used); used != b.goVersion {
		return nil, fmt.Errorf("go says that it is %q; a release is built with %s and no experiments (go env -u GOEXPERIMENT)", used, b.goVersion)
	}
	return b, nil
}

// settings of Go that change what it compiles. A caller's do not count.
var settings = []string{
	"GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOFLAGS", "GOEXPERIMENT", "GOFIPS140", "GOTOOLCHAIN", "GOWORK",
	"CGO_ENABLED", "GODEBUG", "GO_EXTLINK_ENABLED",
}

// env is the environment in which go compiles for a target.
func (b *builder) env(t target) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(settings, name)
	})
	return append(env, "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=-trimpath", "GOFIPS140=off",
		"GOTOOLCHAIN="+b.goVersion, "GOWORK=off", "CGO_ENABLED=0", "LC_ALL=C")
}

// compile compiles both programs for a target and returns the folder with them. Neither
// the path of the clone nor the state of git gets into them, only the version.
func (b *builder) compile(ctx context.Context, t target) (folder string, err error) {
	folder = filepath.Join(b.temp, t.os+"-"+t.arch)
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", err
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version=" + b.linked(), "-o", folder + string(filepath.Separator)}
	_, err = run(ctx, b.folder, b.env(t), "go", append(args, packages()...)...)
	return folder, err
}

// packages are the arguments that name the programs to go.
func packages() (names []string) {
	for _, p := range programs {
		names = append(names, "./cmd/"+p)
	}
	return names
}

// archive returns the archive for a target, with these files beside the programs.
func (b *builder) archive(ctx context.Context, t target, files []member) (member, error) {
	folder, err := b.compile(ctx, t)
	if err != nil {
		return member{}, err
	}
	licences, err := b.licences(ctx, t)
	if err != nil {
		return member{}, err
	}
	for _, p := range programs {
		name := p + t.exe()
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return member{}, err
		}
		info, err := buildinfo.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return member{}, err
		}
		if err := b.isWhole(info, t, licences); err != nil {
			return member{}, fmt.Errorf("%s: %w", p, err)
		}
		files = append(files, member{name: name, data: data, mode: 0o755})
	}
	files = append(files, member{name: "third-party-licences.txt", data: licences.text(), mode: 0o644})
	name := b.archiveName(t)
	pack, ending := packTar, ".tar.gz"
	if t.os == "windows" {
		pack, ending = packZip, ".zip"
	}
	data, err := pack(name, files, b.time)
	return member{name: name + ending, data: data, mode: 0o644}, err
}

// archiveName is the name of an archive without its ending, and of the folder in it.
func (s *source) archiveName(t target) string {
	return "hookd-" + s.version + "-" + t.os + "-" + t.arch
}

func (t target) exe() string {
	if t.os == "windows" {
		return ".exe"
	}
	return ""
}

// isWhole looks at what the program itself says that it was built of: by which Go, for
// which system, and of which modules. Each must have its licence.
func (b *builder) isWhole(info *buildinfo.BuildInfo, t target, licences licences) error {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if got := settings["GOOS"] + "/" + settings["GOARCH"]; got != t.String() || info.GoVersion != b.goVersion || settings["CGO_ENABLED"] != "0" {
		return fmt.Errorf("built for %s by %s, CGO_ENABLED=%s", got, info.GoVersion, settings["CGO_ENABLED"])
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if !licences.has(m.Path, m.Version) {
			return fmt.Errorf("the licence of %s %s is missing", m.Path, m.Version)
		}
	}
	return nil
}

// host is the system that runs this program.
func host() target { return target{runtime.GOOS, runtime.GOARCH} }
