//go:build unix

package loader

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/notify"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
	"github.com/hookd-dev/hookd/test/prove"
)

// watched is a world whose project is trusted as a whole, with a watcher on it.
func watched(t *testing.T, change func(*Options)) (*world, *Watcher, *atomic.Int64) {
	t.Helper()
	w := newWorld(t)
	w.userSettings(`{"hooks":{"trust":{"always":["` + w.project + `"]}}}`)
	changes := new(atomic.Int64)
	opts := w.options()
	opts.OnChange = func(*Snapshot) { changes.Add(1) }
	if change != nil {
		change(&opts)
	}
	watcher, err := Watch(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watcher.Close)
	return w, watcher, changes
}

// soon waits until a condition holds and fails if that takes longer than a
// second.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	hooktest.Eventually(t, time.Second, what, holds)
}

const plain = "#!/bin/sh\n# hook: events=tool-call-start can=block\n"

func TestWatchEveryKindOfChange(t *testing.T) {
	w, watcher, _ := watched(t, nil)
	now := func(want string) func() bool { return func() bool { return names(watcher.Current()) == want } }
	path := w.hookPath("a.sh")
	steps := []struct {
		what string
		do   func()
		want string
	}{
		{"a new hook", func() { w.hook("a.sh", plain) }, "a.sh"},
		{"another", func() { w.hook("b.sh", plain) }, "a.sh b.sh"},
		{"renamed", func() { os.Rename(w.hookPath("b.sh"), w.hookPath("c.sh")) }, "a.sh c.sh"},
		{"removed", func() { os.Remove(w.hookPath("c.sh")) }, "a.sh"},
		{"not executable", func() { os.Chmod(path, 0o644) }, "a.sh"}, // as a failure
		{"executable again", func() { os.Chmod(path, 0o755) }, "a.sh"},
		{"switched off by settings", func() { w.settings(`{"hooks":{"use":[{"name":"a.sh","enabled":false}]}}`) }, ""},
		{"settings removed", func() { os.Remove(w.path(".acai", "acai.json")) }, "a.sh"},
		{"atomic save", func() {
			w.write(path+".tmp", "#!/bin/sh\n# hook: events=session-end can=observe\n", 0o755)
			os.Rename(path+".tmp", path)
		}, "a.sh"},
		{"folder removed", func() { os.RemoveAll(w.path(".acai", "hooks")) }, ""},
		{"and made again", func() { time.Sleep(100 * time.Millisecond); w.hook("d.sh", plain) }, "d.sh"},
		{"replaced as git does", func() {
			w.write(w.path("next", "hooks", "e.sh"), plain, 0o755)
			os.Rename(w.path(".acai"), w.path("old"))
			os.Rename(w.path("next"), w.path(".acai"))
		}, "e.sh"},
		{"a hook in place", func() { w.write(w.hookPath("e.sh"), "#!/bin/sh\n# hook: events=tool-call-end can=block\n", 0o755) }, "e.sh"},
		{".acai removed", func() { os.RemoveAll(w.path(".acai")) }, ""},
		{"and made later", func() { time.Sleep(50 * time.Millisecond); w.hook("f.sh", plain) }, "f.sh"},
		{"the user's folder made later", func() { w.userHook("u.sh", plain) }, "f.sh u.sh"},
		{"the project's settings made later", func() { w.settings(`{"hooks":{"use":[{"name":"f.sh","enabled":false}]}}`) }, "u.sh"},
	}
	for _, step := range steps {
		before := watcher.Current().Generation
		step.do()
		soon(t, step.what, func() bool { return watcher.Current().Generation > before && now(step.want)() })
	}
}

// H09: settings saved by rename and in place; never a moment without hooks.
func TestAtomicSaves(t *testing.T) {
	w, watcher, _ := watched(t, nil)
	for i := range 5 {
		w.hook(fmt.Sprintf("h%d", i), plain)
	}
	only := func(i int) string {
		var entries []string
		for k := range 5 {
			if k != i {
				entries = append(entries, fmt.Sprintf(`{"name":"h%d","enabled":false}`, k))
			}
		}
		return `{"hooks":{"use":[` + strings.Join(entries, ",") + `]}}`
	}
	file := w.path(".acai", "acai.json")
	soon(t, "all of them", func() bool { return names(watcher.Current()) == "h0 h1 h2 h3 h4" })
	for i := range 4 {
		if i < 3 {
			w.write(file+".new", only(i), 0o644)
			os.Rename(file+".new", file)
		} else {
			w.write(file, only(i), 0o644)
		}
		soon(t, fmt.Sprintf("save %d", i), func() bool {
			if names(watcher.Current()) == "" {
				t.Fatal("no hook at all")
			}
			return names(watcher.Current()) == fmt.Sprintf("h%d", i)
		})
	}
}

// H42: half-written settings keep the last good set, and are reported once.
func TestHalfWrittenSettings(t *testing.T) {
	var reported atomic.Int64
	w, watcher, _ := watched(t, func(o *Options) {
		o.OnChange = func(s *Snapshot) {
			if hasFinding(s.Findings, schema.CodeUnreadable, "") {
				reported.Add(1)
			}
		}
	})
	w.hook("guard.sh", plain)
	good := `{"hooks":{"use":[{"name":"guard.sh","priority":%d,"description":"` + strings.Repeat("x", 100) + `"}]}}`
	w.settings(fmt.Sprintf(good, 0))
	soon(t, "the hook", func() bool { return names(watcher.Current()) == "guard.sh" })
	file := w.path(".acai", "acai.json")
	stop := make(chan struct{})
	var polling sync.WaitGroup
	polling.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Millisecond):
			}
			if names(watcher.Current()) != "guard.sh" || watcher.Current().Refuse != nil {
				t.Error("the last good set did not stay")
				return
			}
		}
	})
	for round := 1; round <= 12; round++ {
		text := fmt.Sprintf(good, round)
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
		for part := range 3 {
			f.WriteString(text[len(text)*part/3 : len(text)*(part+1)/3])
			time.Sleep(40 * time.Millisecond)
		}
		f.Close()
		soon(t, "the new settings", func() bool { return watcher.Snapshot().Hooks[0].Priority == round })
	}
	if n := reported.Load(); n != 0 {
		t.Errorf("saves in progress were reported %d times", n)
	}
	// Now it stays broken: one report, and the set stays.
	w.settings("")
	hooktest.Eventually(t, 3*time.Second, "a report", func() bool { return reported.Load() == 1 })
	w.settings(`{"hooks":`)
	time.Sleep(1200 * time.Millisecond)
	close(stop)
	polling.Wait()
	if n := reported.Load(); n > 2 {
		t.Errorf("%d reports", n)
	}
	if !hasFinding(watcher.Current().Findings, report.LastGood, "") {
		t.Error("nothing says that the last good settings are used")
	}
	// A command that lives for one event goes by what is kept on disk.
	begin := time.Now()
	s := w.load()
	if names(s.Set) != "guard.sh" || s.Set.Refuse != nil || !hasFinding(s.Findings, report.LastGood, "") {
		t.Errorf("hooks %q refuse %v findings %v", names(s.Set), s.Set.Refuse, s.Findings)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("took %s", took)
	}
}

// Without a last good set nothing passes.
func TestUnreadableSettingsFromTheStart(t *testing.T) {
	w := newWorld(t)
	w.settings(`{"hooks":`)
	begin := time.Now()
	s := w.load()
	if took := time.Since(begin); took > time.Second {
		t.Errorf("took %s", took)
	}
	if outcome := w.fire(s.Set); outcome.Failure != protocol.FailSettings {
		t.Errorf("outcome %s %s", outcome.Action, outcome.Failure)
	}
}

// H41: leftovers of editors make no new generation.
func TestLeftoversDoNotReload(t *testing.T) {
	w, watcher, changes := watched(t, nil)
	w.hook("a.sh", plain)
	soon(t, "the hook", func() bool { return names(watcher.Current()) == "a.sh" })
	time.Sleep(300 * time.Millisecond)
	before := changes.Load()
	for _, name := range []string{"a.sh~", ".a.sh.swp", "#a.sh#", "a.sh.bak", "4913", ".DS_Store", "README.md"} {
		w.hook(name, plain)
		time.Sleep(50 * time.Millisecond)
	}
	w.write(w.path("build.log"), "noise", 0o644)
	time.Sleep(300 * time.Millisecond)
	if got := changes.Load(); got != before {
		t.Errorf("%d new generations", got-before)
	}
}

// H44: the same name, size and second, and back again.
func TestSameSizeSameSecond(t *testing.T) {
	w, watcher, _ := watched(t, nil)
	one, two := plain+"echo 1\n", plain+"echo 2\n"
	w.hook("a.sh", one)
	soon(t, "the hook", func() bool { return names(watcher.Current()) == "a.sh" })
	hash := func() string { return watcher.Snapshot().Hooks[0].Hash }
	first := hash()
	stamp := time.Now().Truncate(time.Second)
	for i := range 6 {
		text, want := two, false
		if i%2 == 1 {
			text, want = one, true
		}
		w.write(w.hookPath("a.sh"), text, 0o755)
		os.Chtimes(w.hookPath("a.sh"), stamp, stamp)
		soon(t, fmt.Sprintf("change %d", i), func() bool { return (hash() == first) == want })
	}
	// Two writes within one tick of the file system's clock.
	w.write(w.hookPath("a.sh"), two, 0o755)
	w.write(w.hookPath("a.sh"), one, 0o755)
	soon(t, "the last of two writes", func() bool { return hash() == first })
}

// H10: a trusted hook whose file vanishes still runs from its copy, and is a
// failure after the reload; one that runs in place is off the list.
func TestVanishingFile(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	w.userHook("user.sh", blocks)
	w.allow()
	watcher, err := Watch(context.Background(), w.options())
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	os.Remove(w.hookPath("guard.sh"))
	if outcome := w.fire(watcher); outcome.Action != protocol.Block {
		t.Errorf("within the debounce time: %s", outcome.Action)
	}
	soon(t, "gone", func() bool { return status(watcher.Snapshot(), "guard.sh") == "gone!gone" })
	os.Remove(filepath.Join(w.home, ".acai", "hooks", "user.sh"))
	soon(t, "off the list", func() bool { return find(watcher.Snapshot(), "user.sh") == nil })
	// Swapped by rename to a new version: that one runs.
	w.userHook("next", blocks)
	os.Rename(filepath.Join(w.home, ".acai", "hooks", "next"), filepath.Join(w.home, ".acai", "hooks", "user.sh"))
	soon(t, "the new one", func() bool { return status(watcher.Snapshot(), "user.sh") == "ready" })
}

// noWatches stands for a system without watches to give.
type noWatches struct{ err error }

func (n noWatches) Events() <-chan struct{}      { return nil }
func (n noWatches) Watch([]string) (bool, error) { return false, n.err }
func (n noWatches) Close()                       {}

// H45: without watches hookd says so once, in plain words, and polls.
func TestWatchesUsedUp(t *testing.T) {
	tests := map[string]func() (notify.Notifier, error){
		"no instance": func() (notify.Notifier, error) { return nil, syscall.EMFILE },
		"no watch":    func() (notify.Notifier, error) { return noWatches{syscall.ENOSPC}, nil },
	}
	for name, open := range tests {
		t.Run(name, func(t *testing.T) {
			var notices atomic.Int64
			var text atomic.Value
			w, watcher, _ := watched(t, func(o *Options) {
				o.notifier = open
				o.OnNotice = func(f schema.Finding) { notices.Add(1); text.Store(f.Message + f.Remedy) }
			})
			w.hook("a.sh", plain)
			soon(t, "the hook", func() bool { return names(watcher.Current()) == "a.sh" })
			os.Remove(w.hookPath("a.sh"))
			soon(t, "its removal", func() bool { return names(watcher.Current()) == "" })
			if n := notices.Load(); n != 1 {
				t.Errorf("%d notices", n)
			}
			if words := text.Load().(string); !strings.Contains(words, "looks at the files every") || !strings.Contains(words, "max_user_watches") {
				t.Errorf("notice %q", words)
			}
			if !hasFinding(watcher.Current().Findings, report.Polling, "") {
				t.Error("no finding says so")
			}
		})
	}
}

// A watch that is lost is made up for by the slow tick.
func TestLostWatch(t *testing.T) {
	w, watcher, _ := watched(t, func(o *Options) {
		o.notifier = func() (notify.Notifier, error) { return notify.Polling{}, nil }
	})
	w.hook("a.sh", plain)
	hooktest.Eventually(t, slowTick+time.Second, "the hook", func() bool { return names(watcher.Current()) == "a.sh" })
}

// G14, short: each change is whole. Two hooks are always changed together by
// one rename of the folder; no set ever holds one of each.
func TestReloadStorm(t *testing.T) {
	w, watcher, _ := watched(t, nil)
	build := func(version int) {
		dir := w.path("next")
		os.RemoveAll(dir)
		for _, name := range []string{"a", "b"} {
			w.write(filepath.Join(dir, "hooks", name), plain+fmt.Sprintf("# hook: description=v%d\n", version), 0o755)
		}
		os.RemoveAll(w.path("old"))
		os.Rename(w.path(".acai"), w.path("old"))
		os.Rename(dir, w.path(".acai"))
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	var events atomic.Int64
	for range 2 {
		readers.Go(func() {
			last := int64(0)
			for {
				select {
				case <-stop:
					return
				default:
				}
				set := watcher.Current()
				if set.Generation < last {
					t.Error("a generation went back")
				}
				last = set.Generation
				events.Add(1)
				if n := len(set.Hooks); n == 2 && set.Hooks[0].Description != set.Hooks[1].Description {
					t.Errorf("half of a change: %s and %s", set.Hooks[0].Description, set.Hooks[1].Description)
					return
				}
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	// A slow machine reads less often, so the storm lasts until enough was read.
	version := 0
	for ; version < prove.Size(60, 1000) || events.Load() < int64(prove.Size(1000, 20_000)) && !t.Failed(); version++ {
		build(version)
		time.Sleep(time.Duration(version%7) * 8 * time.Millisecond)
	}
	last := fmt.Sprintf("v%d", version-1)
	soon(t, "the last version", func() bool {
		set := watcher.Current()
		return len(set.Hooks) == 2 && set.Hooks[0].Description == last && set.Hooks[1].Description == last
	})
	close(stop)
	readers.Wait()
	prove.Figure(t, "G14", "%d reloads under %d looks at the set: 0 mixed, none went back", version, events.Load())
}

// What changes while a load looks around is not half in it: the load is done
// again. Here a hook that is asked for its events changes another one meanwhile.
func TestChangeDuringLoad(t *testing.T) {
	w := newWorld(t)
	old, next := filepath.Join(w.home, ".acai", "hooks", "old"), filepath.Join(w.home, "next")
	w.userHook("old", plain+"# hook: description=before\n")
	w.write(next, plain+"# hook: description=behind\n", 0o755)
	w.userHook("asked", fmt.Sprintf("#!/bin/sh\nsleep 0.6\nmv %q %q\necho '{\"events\":[\"agent-stop\"]}'\n", next, old))
	s := w.load()
	if got := find(s, "old").Description; got != "behind" || status(s, "asked") != "ready" {
		t.Errorf("description %q; the asked one is %s", got, status(s, "asked"))
	}
}

func TestReloadOnDemand(t *testing.T) {
	w, watcher, _ := watched(t, func(o *Options) {
		o.notifier = func() (notify.Notifier, error) { return notify.Polling{}, nil }
	})
	w.hook("a.sh", plain)
	s, err := watcher.Reload(context.Background())
	if err != nil || names(s.Set) != "a.sh" {
		t.Errorf("hooks %q, %v", names(s.Set), err)
	}
	generation := s.Set.Generation
	if s, err = watcher.Reload(context.Background()); err != nil || s.Set.Generation != generation {
		t.Errorf("generation %d, before %d, %v", s.Set.Generation, generation, err)
	}
	watcher.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := watcher.Reload(ctx); err == nil {
		t.Error("a closed watcher reloads")
	}
}

func TestDisabledUntil(t *testing.T) {
	w, watcher, _ := watched(t, nil)
	w.userHook("u.sh", plain)
	soon(t, "the hook", func() bool { return names(watcher.Current()) == "u.sh" })
	until := time.Now().Add(700 * time.Millisecond)
	if err := w.trust().Disable(context.Background(), "u.sh", &until); err != nil {
		t.Fatal(err)
	}
	soon(t, "switched off", func() bool { return names(watcher.Current()) == "" })
	hooktest.Eventually(t, 1700*time.Millisecond, "on again", func() bool { return names(watcher.Current()) == "u.sh" })
	if time.Now().Before(until) {
		t.Error("too early")
	}
}

func TestFollow(t *testing.T) {
	w := newWorld(t)
	w.hook("a.sh", blocks)
	w.allow()
	ctx, cancel := context.WithCancel(context.Background())
	reports := make(chan string, 10)
	var following sync.WaitGroup
	following.Go(func() {
		if err := w.trust().Follow(ctx, func(hook, hash string, err error) { reports <- fmt.Sprint(hook, err) }); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(100 * time.Millisecond)
	w.hook("new.sh", blocks)
	w.hook("a.sh", blocks+"# edited\n")
	select {
	case got := <-reports:
		if got != "a.sh<nil>" {
			t.Errorf("report %q", got)
		}
	case <-time.After(time.Second):
		t.Error("the change was not followed")
	}
	cancel()
	following.Wait()
	s := w.load()
	if got := status(s, "a.sh") + " " + status(s, "new.sh"); got != "ready untrusted!untrusted" {
		t.Errorf("statuses %s", got)
	}
}

// A session keeps the guards it began with: one that is edited counts as it is
// now, one that is weakened or taken away does not, and what a person switches
// off is off. (In a project where nothing is asked; elsewhere the trust record
// says the same.)
func TestSessionKeepsItsGuards(t *testing.T) {
	w, watcher, _ := watched(t, nil)
	w.hook("guard.sh", blocks)
	w.userHook("off.sh", strings.Replace(blocks, `"no"`, `"off"`, 1))
	soon(t, "the hooks", func() bool { return names(watcher.Current()) == "guard.sh off.sh" })
	e := executor.New(watcher, executor.Options{})
	defer e.Close(t.Context())
	fire := func() protocol.Outcome {
		outcome, err := e.Fire(t.Context(), protocol.Event{
			Event: protocol.ToolCallStart, Session: protocol.Session{ID: "s"}, Project: w.project, Cwd: w.project,
			Data: []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls"},"parallel":1}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	if got := fire().Reason; got != "no" {
		t.Fatalf("reason %q", got)
	}
	w.hook("guard.sh", strings.Replace(blocks, `"no"`, `"edited"`, 1))
	soon(t, "the edit", func() bool { return fire().Reason == "edited" })
	w.hook("guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=observe\n")
	soon(t, "the weakening", func() bool { return find(watcher.Snapshot(), "guard.sh").Can == protocol.CanObserve })
	if o := fire(); o.Runs[0].Hook != "guard.sh" || o.Runs[0].Class != protocol.CanBlock {
		t.Errorf("a weakened guard was asked as %s %s", o.Runs[0].Hook, o.Runs[0].Class)
	}
	os.Remove(w.hookPath("guard.sh"))
	soon(t, "the removal", func() bool { return find(watcher.Snapshot(), "guard.sh") == nil })
	if o := fire(); o.Failure != protocol.FailGone || o.Action != protocol.Block {
		t.Errorf("without its file: %s %s", o.Action, o.Failure)
	}
	w.hook("guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\n")
	soon(t, "the return", func() bool { return fire().Reason == "off" })
	if err := w.trust().Disable(context.Background(), "off.sh", nil); err != nil {
		t.Fatal(err)
	}
	soon(t, "switched off", func() bool { return fire().Action == protocol.Observe })
}
