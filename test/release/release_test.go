package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var someTime = time.Date(2026, 11, 29, 10, 36, 41, 0, time.FixedZone("east", 3600))

// The bytes depend on names, content and the one time, not on the order in which files
// were found, nor on the time zone.
func TestArchivesOfTheSameFilesAreTheSame(t *testing.T) {
	files := []member{
		{"hookd", bytes.Repeat([]byte("program "), 1000), 0o755},
		{"man/hookd.1", []byte("page"), 0o644},
		{"LICENSE", []byte("text"), 0o644},
	}
	other := slices.Clone(files)
	slices.Reverse(other)
	want := []string{
		"a/ drwxr-xr-x ", "a/LICENSE -rw-r--r-- text", "a/hookd -rwxr-xr-x " + string(files[0].data),
		"a/man/ drwxr-xr-x ", "a/man/hookd.1 -rw-r--r-- page",
	}
	for name, pack := range map[string]func(string, []member, time.Time) ([]byte, error){"a.tar.gz": packTar, "a.zip": packZip} {
		one, err := pack("a", files, someTime)
		if err != nil {
			t.Fatal(err)
		}
		two, err := pack("a", other, someTime.UTC())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s differs: %v", name, firstDifference(name, one, two))
		}
		var got []string
		members, err := unpack(name, one)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			got = append(got, fmt.Sprintf("%s %v %s", m.name, m.mode, m.data))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s holds %q", name, got)
		}
	}
}

// What differs between two builds is named, down to the byte.
func TestTheFirstDifferenceIsNamed(t *testing.T) {
	archive := func(program string, mode fs.FileMode) []byte {
		data, err := packTar("a", []member{{"hookd", []byte(program), mode}, {"LICENSE", []byte("x"), 0o644}}, someTime)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	write := func(files map[string][]byte) string {
		dir := t.TempDir()
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	whole := archive("hookd", 0o755)
	base := write(map[string][]byte{"a.tar.gz": whole, "SHA256SUMS": sums([]member{{name: "a.tar.gz", data: whole}})})
	if err := sameFolders(base, base); err != nil {
		t.Error(err)
	}
	for want, files := range map[string]map[string][]byte{
		"a/hookd, at byte 3":                     {"a.tar.gz": archive("hooKd", 0o755), "SHA256SUMS": nil},
		"a/hookd (-rwxr-xr-x) is a/hookd (-rw-r": {"a.tar.gz": archive("hookd", 0o644), "SHA256SUMS": nil},
		"the files differ: [SHA256SUMS a.tar.gz": {"a.tar.gz": whole},
		"SHA256SUMS differs":                     {"a.tar.gz": whole, "SHA256SUMS": []byte("x")},
	} {
		if err := sameFolders(base, write(files)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if err := sameFolders(t.TempDir(), t.TempDir()); err == nil {
		t.Error("two empty folders are said to be the same release")
	}
}

// The texts of exactly the modules that are linked, and of Go itself.
func TestEveryLinkedModuleHasItsLicence(t *testing.T) {
	b, err := newBuilder(t.Context(), &source{folder: "../.."}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []target{{"linux", "amd64"}, {"windows", "arm64"}} {
		all, err := b.licences(t.Context(), system)
		if err != nil {
			t.Fatal(err)
		}
		text := string(all.text())
		for module, words := range map[string]string{
			"github.com/spf13/cobra": "Apache License", "mvdan.cc/sh/v3": "Redistribution and use",
			"go.yaml.in/yaml/v3": "Kirill Simonov", goItself: "The Go Authors",
		} {
			_, of, found := strings.Cut(text, "\n"+module+" ")
			if _, rest, more := strings.Cut(of, strings.Repeat("=", 78)+"\n\n"); more { // what is below its title
				of, _, _ = strings.Cut(rest, "\n"+strings.Repeat("=", 78))
			}
			if !found || !strings.Contains(of, words) {
				t.Errorf("%v: the licence of %s is missing", system, module)
			}
		}
		for _, tool := range []string{"honnef.co/go/tools", "golang.org/x/vuln", "github.com/creack/pty", module} {
			if strings.Contains(text, "\n"+tool+" ") {
				t.Errorf("%v: %s is not linked", system, tool)
			}
		}
		if len(all) < 40 {
			t.Errorf("%v: %d licences", system, len(all))
		}
	}
}

func TestALicenceThatIsMissingStopsTheRelease(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "copied", "code")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"notice_test.go": "", "NOTICE": "n", "licence.go": "", "copied/LICENSE-MIT": "copied text", "README": "r"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := linkedModule{path: "example.com/m", version: "v1.0.0", dir: dir, packages: []string{dir}}
	if _, err := readLicences([]linkedModule{m}); err == nil || !strings.Contains(err.Error(), "example.com/m v1.0.0 is linked and has no licence") {
		t.Errorf("without one: %v", err)
	}
	m.packages = append(m.packages, deep)
	all, err := readLicences([]linkedModule{m})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(all.text()); !strings.Contains(text, "v1.0.0: copied/LICENSE-MIT\n") || !strings.Contains(text, "\ncopied text\n") || !strings.Contains(text, "v1.0.0: NOTICE\n") || strings.Contains(text, ".go") {
		t.Errorf("the text is\n%s", text)
	}

	b := &builder{goVersion: "go1.26.8"}
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{{Path: "example.com/m", Version: "v1.0.0"}}, Settings: []debug.BuildSetting{
		{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "amd64"}, {Key: "CGO_ENABLED", Value: "0"}}}
	linux := target{"linux", "amd64"}
	if err := b.isWhole(info, linux, all); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(){
		"built for linux/amd64": func() { linux.arch = "arm64" },
		"by go1.26.9":           func() { info.GoVersion = "go1.26.9" },
		"the licence of example.com/other v2.0.0 is missing": func() {
			info.Deps = []*debug.Module{{Path: "example.com/m", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/other", Version: "v2.0.0"}}}
		},
	} {
		keptInfo, keptTarget := *info, linux
		change()
		if err := b.isWhole(info, linux, all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		*info, linux = keptInfo, keptTarget
	}
}

// A release is the commit that a tag names, with its section in the changelog. Any other
// state is refused, or named a snapshot.
func TestWhatIsNoReleaseIsRefused(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for name, test := range map[string]struct {
		tags, changed, changelog, epoch string
		snapshot                        bool
		version, wrong                  string
	}{
		"a tag":                  {tags: "v1.2.3\nlatest", version: "1.2.3"},
		"a pre-release":          {tags: "v1.2.3-rc.1", changelog: "## [1.2.3-rc.1] - 2026-11-29\n", version: "1.2.3-rc.1"},
		"no tag":                 {wrong: "no tag of a release"},
		"tags of other things":   {tags: "v1\nv01.2.3\nv1.2.3+x\n1.2.3\nxv1.2.3", wrong: "no tag of a release"},
		"two tags":               {tags: "v1.2.3\nv1.2.4", wrong: "several tags of a release: v1.2.3, v1.2.4"},
		"a changed tree":         {tags: "v1.2.3", changed: " M README.md", wrong: "README.md"},
		"no section":             {tags: "v1.2.3", changelog: "## [Unreleased]\n", wrong: `no section "## [1.2.3]"`},
		"a section without date": {tags: "v1.2.3", changelog: "## [1.2.3]\n", wrong: "no section"},
		"a snapshot":             {tags: "v1.2.3", snapshot: true, version: "0.0.0-snapshot.0123456789ab"},
		"a changed snapshot":     {changed: "?? x", snapshot: true, version: "0.0.0-snapshot.0123456789ab.dirty"},
		"a given time":           {tags: "v1.2.3", epoch: "1700000000", version: "1.2.3"},
		"a time that is none":    {tags: "v1.2.3", epoch: "yesterday", wrong: `SOURCE_DATE_EPOCH is "yesterday"`},
		"a time before zip":      {tags: "v1.2.3", epoch: "0", wrong: "the first year of zip files"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SOURCE_DATE_EPOCH", test.epoch)
			dir := t.TempDir()
			if test.changelog == "" {
				test.changelog = "# Changes\n\n## [1.2.3] - 2026-11-29\n"
			}
			if err := os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(test.changelog), 0o644); err != nil {
				t.Fatal(err)
			}
			git := func(args ...string) (string, error) {
				return map[string]string{"rev-parse": commit, "status": test.changed, "tag": test.tags, "show": "1764412601"}[args[0]], nil
			}
			s, err := readSource(dir, git, test.snapshot)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || s.version != test.version || s.linked() != "v"+test.version {
				t.Fatalf("%+v, %v", s, err)
			}
			want := int64(1764412601)
			if test.epoch != "" {
				want = 1700000000
			}
			if s.time.Unix() != want {
				t.Errorf("the time is %v", s.time)
			}
		})
	}
	broken := func(...string) (string, error) { return "", errors.New("not a git repository") }
	if _, err := readSource(t.TempDir(), broken, true); err == nil || !strings.Contains(err.Error(), "made in a clone") {
		t.Errorf("outside of a clone: %v", err)
	}
}

// The formula and the container file name exactly the archives beside them.
func TestFormulaAndContainerFileHaveTheSumsOfTheArchives(t *testing.T) {
	s := &source{folder: "../..", version: "1.2.3", tag: "v1.2.3", commit: "abc"}
	var archives []member
	for i, system := range allTargets {
		ending := map[bool]string{true: ".zip", false: ".tar.gz"}[system.os == "windows"]
		archives = append(archives, member{name: s.archiveName(system) + ending, data: []byte{byte(i)}})
	}
	files, err := s.published(archives)
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, f := range files {
		text[f.name] = string(f.data)
		if strings.Contains(text[f.name], "{{") || strings.Contains(text[f.name], "<no value>") {
			t.Errorf("%s has words that were not filled in", f.name)
		}
	}
	formula := text["hookd.rb"]
	for _, a := range archives {
		row := fmt.Sprintf("      url \"https://%s/releases/download/v1.2.3/%s\"\n      sha256 %q\n", module, a.name, sum(a.data))
		if has, want := strings.Contains(formula, row), !strings.Contains(a.name, "windows"); has != want {
			t.Errorf("%s in the formula: %v", a.name, has)
		}
	}
	if opened, ended := strings.Count(formula, " do\n")+strings.Count(formula, "def ")+strings.Count(formula, "class "), strings.Count(formula, "end\n"); opened != ended {
		t.Errorf("%d blocks begin and %d end in\n%s", opened, ended, formula)
	}
	for _, part := range []string{"ADD hookd-1.2.3-linux-${TARGETARCH}.tar.gz /\n", "\nUSER 65532:65532\n", "version=\"1.2.3\"", "revision=\"abc\""} {
		if !strings.Contains(text["Containerfile"], part) {
			t.Errorf("%q is missing in\n%s", part, text["Containerfile"])
		}
	}
	if !strings.HasPrefix(text["install.sh"], "#!/bin/sh\n") {
		t.Errorf("install.sh is %.40q", text["install.sh"])
	}
}

// README names pages that are not in the archive. There the links lead to the repository.
func TestLinksOfPagesInAnArchiveLeadToTheRepository(t *testing.T) {
	page := "[a](docs/a.md#part) [b](#here) ![c](docs/c.svg) [d](https://example.com/x) [e](LICENSE)"
	want := "[a](B/docs/a.md#part) [b](#here) ![c](B/docs/c.svg) [d](https://example.com/x) [e](B/LICENSE)"
	if got := string(absoluteLinks([]byte(page), "B/")); got != want {
		t.Error(got)
	}
	texts, err := (&source{folder: "../..", tag: "v1.2.3"}).texts()
	if err != nil {
		t.Fatal(err)
	}
	if readme := string(texts[1].data); strings.Contains(readme, "](docs/") || !strings.Contains(readme, "](https://"+module+"/blob/v1.2.3/docs/") {
		t.Error("README keeps links to files that are not in the archive")
	}
}

// A folder that is no release is not removed, whatever it is named.
func TestOnlyAReleaseIsWrittenOver(t *testing.T) {
	out := filepath.Join(t.TempDir(), "new", "release")
	files := []member{{"SHA256SUMS", nil, 0o644}, {"install.sh", []byte("x"), 0o755}}
	for range 2 {
		if err := replaceFolder(out, files); err != nil {
			t.Fatal(err)
		}
	}
	mine := filepath.Join(t.TempDir(), "mine")
	if err := errors.Join(os.Mkdir(mine, 0o755), os.WriteFile(filepath.Join(mine, "thesis"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := replaceFolder(mine, files); err == nil || !strings.Contains(err.Error(), "no release (thesis)") {
		t.Errorf("%v", err)
	}
	for folder, want := range map[string]int{filepath.Dir(out): 1, out: 2, mine: 1, filepath.Dir(mine): 1} {
		if entries, _ := os.ReadDir(folder); len(entries) != want {
			t.Errorf("%s holds %v", folder, entries)
		}
	}
}

func TestTargetsAreThoseOfTheReleases(t *testing.T) {
	if some, err := parseTargets("windows/arm64,linux/amd64"); err != nil || len(some) != 2 || some[0].exe() != ".exe" || some[1].exe() != "" {
		t.Errorf("%v, %v", some, err)
	}
	for _, list := range []string{"plan9/mips", "linux", "linux/amd64,"} {
		if _, err := parseTargets(list); err == nil {
			t.Errorf("%q is taken", list)
		}
	}
}
