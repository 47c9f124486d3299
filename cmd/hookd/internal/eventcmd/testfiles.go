package eventcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// foundTests are the tests of one call of hookd test.
type foundTests struct {
	suites   []*suite
	findings []schema.Finding // about test files that belong to no suite
	untested []string         // names of hooks without tests
	folders  []string         // where tests may appear
}

// suite is one test file with its hook.
type suite struct {
	snapshot *loader.Snapshot
	hook     *executor.Hook
	pack     []*executor.Hook // the rules of a pack, for which hook stands; nil of any other hook
	of       subject
	file     *testfile.File
	findings []schema.Finding // about the test file
	fault    *cli.Fault       // why none of it was run, nil if it was
	results  []testResult
}

// findTests finds the tests of the named hooks, or of all that rule here.
func (cmd *tester) findTests(ctx context.Context, rt *process.Runtime, names []string) (*foundTests, error) {
	found := &foundTests{}
	if len(names) > 0 {
		for _, name := range names {
			if err := cmd.findTestsOf(ctx, rt, found, name); err != nil {
				return found, err
			}
		}
		return found, nil
	}
	snapshot, err := cmd.Opener.Look(ctx)
	if err != nil {
		return found, err
	}
	cmd.Opener.NoteNoProject(snapshot.Project)
	for i := range snapshot.Hooks {
		info := &snapshot.Hooks[i]
		if info.Layer == protocol.Builtin {
			continue
		}
		packed := info.Pack != "" && found.addPack(snapshot, info.Pack)
		if !found.add(snapshot, info.Hook, subject{name: info.Name}, about(info.Name, snapshot.Findings)) && packed {
			found.untested = found.untested[:len(found.untested)-1] // its pack's tests are its own
		}
	}
	found.addStray(snapshot)
	return found, nil
}

// findTestsOf finds the tests of the hook that a word of the command line means: its name,
// its file, or its test file.
func (cmd *tester) findTestsOf(ctx context.Context, rt *process.Runtime, found *foundTests, word string) error {
	for _, suffix := range testfile.Suffixes {
		word = strings.TrimSuffix(word, suffix)
	}
	if pack, snapshot := cmd.packOf(ctx, word); pack != "" {
		if !found.addPack(snapshot, pack) {
			return cli.Usage("no-tests", "the rules of "+loader.PackName(pack)+" have no tests", "write "+places.PackTestPaths(pack)[0]+"; docs/hooks.md shows how")
		}
		return nil
	}
	of, err := cmd.subjectOf(ctx, word)
	if err != nil {
		return err
	}
	snapshot, hook, findings, err := cmd.load(ctx, rt, of)
	if err != nil {
		return err
	}
	if !found.add(snapshot, hook, of, findings) {
		return cli.Usage("no-tests", hook.Name+" has no tests", "write "+places.TestPaths(snapshot, hook)[0]+"; docs/hooks.md shows how")
	}
	return nil
}

// add adds the tests of a hook. It reports whether there are any.
func (found *foundTests) add(snapshot *loader.Snapshot, hook *executor.Hook, of subject, about []schema.Finding) bool {
	any := false
	for _, path := range places.TestPaths(snapshot, hook) {
		found.folders = append(found.folders, filepath.Dir(path))
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		any = true
		s := &suite{snapshot: snapshot, hook: hook, of: of}
		s.file, s.findings = readTestFile(snapshot, path)
		if hook.Asker == nil {
			s.fault = cannotRun(hook, about, true)
		}
		found.suites = append(found.suites, s)
	}
	if i := slices.IndexFunc(snapshot.Hooks, func(h loader.Info) bool { return h.Hook == hook && h.Tests != nil }); i >= 0 {
		any = true
		s := &suite{snapshot: snapshot, hook: hook, of: of}
		s.file, s.findings = testfile.OfEntry(snapshot.Hooks[i].Tests)
		if hook.Asker == nil {
			s.fault = cannotRun(hook, about, true)
		}
		found.suites = append(found.suites, s)
	}
	if !any {
		found.untested = append(found.untested, hook.Name)
	}
	return any
}

// packOf returns the file of rules that a word means, by its path or its name, "" if it
// means none. A hook of that name goes first.
func (cmd *tester) packOf(ctx context.Context, word string) (string, *loader.Snapshot) {
	snapshot, err := cmd.Opener.Look(ctx)
	if err != nil || slices.ContainsFunc(snapshot.Hooks, func(h loader.Info) bool { return h.Name == word }) {
		return "", nil
	}
	path, _ := filepath.Abs(word)
	for _, h := range snapshot.Hooks {
		if h.Pack != "" && (loader.PackName(h.Pack) == word || h.Pack == path || h.Pack == resolved(path)) {
			return h.Pack, snapshot
		}
	}
	return "", nil
}

// resolved returns a path with its links followed, "" if it leads to nothing.
func resolved(path string) string {
	real, _ := filepath.EvalSymlinks(path)
	return real
}

// addPack adds the tests of a pack of rules, which are asked together. It reports whether
// there are any.
func (found *foundTests) addPack(snapshot *loader.Snapshot, pack string) bool {
	any := false
	for _, path := range places.PackTestPaths(pack) {
		found.folders = append(found.folders, filepath.Dir(path))
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		any = true
		if slices.ContainsFunc(found.suites, func(s *suite) bool { return s.file.Path == path }) {
			continue
		}
		s := &suite{snapshot: snapshot, of: subject{name: loader.PackName(pack)}}
		s.file, s.findings = readTestFile(snapshot, path)
		s.takeRules(pack)
		found.suites = append(found.suites, s)
	}
	return any
}

// takeRules takes the rules of a pack that are switched on. The hook stands for them: it
// has their events.
func (s *suite) takeRules(pack string) {
	s.hook, s.pack = &executor.Hook{}, []*executor.Hook{}
	s.hook.Name = loader.PackName(pack)
	for _, h := range s.snapshot.Hooks {
		if h.Pack != pack || h.SwitchedOff {
			continue
		}
		if h.Asker == nil && s.fault == nil {
			s.fault = cannotRun(h.Hook, about(h.Name, s.snapshot.Findings), true)
		}
		s.pack = append(s.pack, h.Hook)
		for _, event := range h.Events {
			if !slices.Contains(s.hook.Events, event) {
				s.hook.Events = append(s.hook.Events, event)
			}
		}
	}
}

// asked are the hooks that a test of the suite asks.
func (s *suite) asked() []*executor.Hook {
	if s.pack != nil {
		return s.pack
	}
	return []*executor.Hook{s.hook}
}

// readTestFile reads a test file.
func readTestFile(snapshot *loader.Snapshot, path string) (*testfile.File, []schema.Finding) {
	unreadable := func(why, remedy string) (*testfile.File, []schema.Finding) {
		return &testfile.File{Path: path}, []schema.Finding{schema.NewFinding(schema.Pos{File: path}, "", schema.SeverityError,
			testfile.CodeUnreadable, "the tests cannot be read: "+why, remedy)}
	}
	if out := snapshot.LeadsOut(path); out != "" {
		return unreadable("the link leads out of the project, to "+out, "put the file itself there")
	}
	text, err := fsutil.ReadRegular(path, testfile.MaxSize)
	var other *fsutil.NotRegularError
	switch {
	case errors.As(err, &other):
		return unreadable(err.Error(), "put a file there, or remove it")
	case errors.Is(err, fsutil.ErrTooLarge):
		return unreadable(fmt.Sprintf("it is larger than %d bytes", testfile.MaxSize), "split it, or make it shorter")
	case errors.Is(err, fs.ErrPermission):
		return unreadable(fsutil.WithoutPath(err).Error(), "chmod u+r "+path)
	case err != nil:
		return unreadable(fsutil.WithoutPath(err).Error(), "make it a file that you can read, or remove it")
	}
	return testfile.Parse(path, text)
}

// addStray tells of test files in the project's hooks folder that no hook has, and of those
// with an ending that is not read: a test that nobody runs looks like one that passes.
func (found *foundTests) addStray(snapshot *loader.Snapshot) {
	if snapshot.Project == "" {
		return
	}
	folder := filepath.Join(snapshot.Project, ".acai", "hooks")
	found.folders = append(found.folders, folder)
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		i := strings.LastIndex(name, ".test.")
		if i <= 0 || name[0] == '.' || name[0] == '_' || slices.ContainsFunc(found.suites, func(s *suite) bool { return s.file.Path == filepath.Join(folder, name) }) {
			continue
		}
		say := func(message, remedy string) {
			found.findings = append(found.findings, schema.NewFinding(schema.Pos{File: filepath.Join(folder, name)}, "", schema.SeverityError, testfile.CodeUnreadable, message, remedy))
		}
		switch ending := name[i:]; {
		case slices.Contains(testfile.Suffixes, ending):
			say("there is no hook "+name[:i]+" for these tests", "rename the file to that of its hook, build the hook, or remove the file")
		case ending == ".test.yml" || ending == ".test.toml" || ending == ".test.jsonc":
			say("hookd does not read tests with this ending", "rename it to "+name[:i]+".test.yaml")
		}
	}
}

// watched returns the files of which each save is a reason to run the tests again.
func (found *foundTests) watched() []string {
	var files []string
	for _, s := range found.suites {
		files = append(files, s.file.Path)
		if s.hook.Path != "" {
			files = append(files, s.hook.Path)
		}
	}
	files = append(files, found.folders...)
	slices.Sort(files)
	return slices.Compact(files)
}

// awaitAnySave waits until one of the files was saved since a time, and is not being
// written any more.
func awaitAnySave(ctx context.Context, files []string, since time.Time) error {
	stamps := func() map[string]stamp {
		all := map[string]stamp{}
		for _, file := range files {
			all[file] = stampOf(file)
		}
		return all
	}
	before, last := stamps(), map[string]stamp(nil)
	changed := slices.ContainsFunc(files, func(file string) bool { return before[file].modified.After(since) })
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
		now := stamps()
		for file, s := range now {
			changed = changed || s != before[file]
		}
		if changed && last != nil && equalStamps(now, last) {
			return nil
		}
		last = now
	}
}

func equalStamps(a, b map[string]stamp) bool {
	for file := range a {
		if a[file] != b[file] {
			return false
		}
	}
	return true
}
