//go:build unix

package loader

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/loader/internal/files"
)

// What a loader keeps of unchanged files never shows: after every change it finds
// what a loader finds that knows nothing.
func TestWhatIsKeptNeverShows(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	w.hook("other.sh", observes)
	w.hook("dull.sh", "#!/bin/sh\n")
	w.hook("plain", "no program")
	w.userHook("mine.sh", blocks)
	answers := func(entry string) string { return "#!/bin/sh\necho '" + entry + "'\n" }
	w.hook("asked.sh", answers(`{"events":["tool-call-start"],"priority":1}`))
	w.hook("wrong.sh", answers("nothing of use"))
	w.allow("guard.sh", "other.sh", "asked.sh", "wrong.sh")
	l, err := newLoader(w.options())
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	changes := []struct {
		name   string
		change func()
	}{
		{"none", func() {}},
		{"none again", func() {}},
		{"another budget", func() { w.settings(`{"hooks":{"budget":"20s"}}`) }},
		{"a timeout", func() { w.settings(`{"hooks":{"timeout":"1s"}}`) }},
		{"an entry", func() { w.settings(`{"hooks":{"use":[{"name":"other.sh","priority":3}]}}`) }},
		{"required", func() { w.settings(`{"hooks":{"required":["other.sh"]}}`) }},
		{"off", func() { w.settings(`{"hooks":{"enabled":false}}`) }},
		{"back", func() { os.Remove(w.path(".acai", "acai.json")) }},
		{"mode", func() { os.Chmod(w.hookPath("other.sh"), 0o644) }},
		{"mode back", func() { os.Chmod(w.hookPath("other.sh"), 0o755) }},
		{"text of one length, time set back", func() {
			w.hook("guard.sh", blocks[:len(blocks)-1]+" ")
			os.Chtimes(w.hookPath("guard.sh"), old, old)
		}},
		{"another answer", func() {
			w.hook("asked.sh", answers(`{"events":["tool-call-start"],"priority":2,"can":"block"}`))
			w.allow("asked.sh")
		}},
		{"no answer", func() {
			w.hook("asked.sh", answers(`{"events":["tool-call-start"],"priority":2,"can":"blok"}`))
			w.allow("asked.sh")
		}},
		{"an answer again", func() {
			w.hook("asked.sh", answers(`{"events":["tool-call-start"],"priority":1}`))
			w.allow("asked.sh")
		}},
		{"side file", func() { w.write(w.hookPath("other.sh.hook.json"), `{"priority":4}`, 0o644) }},
		{"side file gone", func() { os.Remove(w.hookPath("other.sh.hook.json")) }},
		{"link", func() {
			os.Rename(w.hookPath("other.sh"), w.path("elsewhere"))
			os.Symlink(w.path("elsewhere"), w.hookPath("other.sh"))
		}},
		{"gone", func() { os.Remove(w.hookPath("guard.sh")) }},
		{"managed", func() {
			w.write(filepath.Join(w.managed, "acai.json"), `{"hooks":{"onFailure":"stop","required":["mine.sh"]}}`, 0o644)
		}},
	}
	for _, c := range changes {
		c.change()
		for _, rest := range []time.Duration{0, files.StableAfter * 2} {
			time.Sleep(rest)
			got, err := l.snapshot(context.Background(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if want := w.load(); !got.equal(want) {
				t.Errorf("%s, after %s: found %v, want %v", c.name, rest, got.Findings, want.Findings)
			}
		}
	}
	if len(l.files.ByPath) == 0 {
		t.Error("nothing was kept, so nothing was tested")
	}
}
