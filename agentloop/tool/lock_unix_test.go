//go:build unix

package tool

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSwapWhileWaiting asserts that a call which waited for its lock looks again at
// where its path leads.
func TestSwapWhileWaiting(t *testing.T) {
	for name, c := range map[string]struct {
		swap func(p string) error
		want string
		fits string // what the file holds at the end, by its path then
	}{
		"the folder becomes the hooks'": {func(p string) error {
			return first(os.Rename(p+"/d", p+"/away"), os.Symlink(".acai", p+"/d"))
		}, "belongs to the hooks", ""},
		"the folder becomes another": {func(p string) error {
			return first(os.Rename(p+"/d", p+"/away"), os.Mkdir(p+"/d", 0o755), os.WriteFile(p+"/d/f", []byte("old, but another"), 0o644))
		}, "replaced 1", "new, but another"},
		"the folder is gone": {func(p string) error { return os.Rename(p+"/d", p+"/away") }, "no such file", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := realTemp(t)
			for _, dir := range []string{"/d", "/.acai"} {
				if err := first(os.Mkdir(p+dir, 0o755), os.WriteFile(p+dir+"/f", []byte("old"), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			folder := Folder{Project: p}
			h, err := folder.part(folder.Project, nil).Lock(t.Context(), "d/f", false)
			if err != nil {
				t.Fatal(err)
			}
			var calls sync.WaitGroup
			var text string
			calls.Go(func() {
				text, _ = callAs(t, "a", Files(folder), "edit_file", map[string]any{"path": "d/f", "oldText": "old", "newText": "new"})
			})
			time.Sleep(300 * time.Millisecond) // it waits
			if err := c.swap(p); err != nil {
				t.Error(err)
			}
			h.Release()
			calls.Wait()
			if !strings.Contains(text, c.want) {
				t.Errorf("%q, want %q", text, c.want)
			}
			if c.fits != "" && read(t, p, "d/f") != c.fits {
				t.Errorf("d/f holds %q", read(t, p, "d/f"))
			}
			if read(t, p, ".acai/f") != "old" || read(t, p, "away/f") != "old" {
				t.Error("another file was changed")
			}
		})
	}
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
