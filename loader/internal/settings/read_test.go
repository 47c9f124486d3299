package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReadSettings(t *testing.T) {
	const good = `{"hooks": {"timeout": "7s"}}`
	tests := []struct {
		name       string
		build      func(t *testing.T, folder string)
		want       time.Duration // hooks.timeout, 0 for not set
		findings   []string
		unreadable string // what the error says, "" for none
	}{
		{name: "no file", build: func(*testing.T, string) {}},
		{name: "no folder", build: func(t *testing.T, folder string) { _ = os.Remove(folder) }},
		{name: "json", want: 7 * time.Second, build: func(t *testing.T, folder string) { write(t, folder, "acai.json", good) }},
		{name: "yaml", want: 7 * time.Second, build: func(t *testing.T, folder string) { write(t, folder, "acai.yaml", "hooks: {timeout: 7s}") }},
		{name: "toml", want: 7 * time.Second, build: func(t *testing.T, folder string) { write(t, folder, "acai.toml", "hooks.timeout = '7s'") }},
		{name: "other endings are not read", build: func(t *testing.T, folder string) {
			write(t, folder, "acai.yml", "hooks: {timeout: 7s}")
			write(t, folder, "settings.json", good)
		}},
		{name: "two files, the first counts", want: 7 * time.Second,
			build: func(t *testing.T, folder string) {
				write(t, folder, "acai.toml", "hooks.timeout = '1s'")
				write(t, folder, "acai.json", good)
			},
			findings: []string{"error settings-two-files acai.json: the folder holds acai.json and acai.toml; only acai.json counts -> merge them into one file and remove the others"}},
		{name: "two files, the first unreadable", unreadable: "acai.json:1: not valid JSON: the file is empty",
			build: func(t *testing.T, folder string) {
				write(t, folder, "acai.yaml", "hooks: {timeout: 1s}")
				write(t, folder, "acai.json", "")
			},
			findings: []string{"error settings-two-files acai.json: the folder holds acai.json and acai.yaml; only acai.json counts -> merge them into one file and remove the others"}},
		{name: "byte order mark and CRLF (H18)", want: 7 * time.Second, build: func(t *testing.T, folder string) {
			write(t, folder, "acai.yaml", "\xef\xbb\xbfhooks:\r\n  timeout: 7s\r\n")
		}},
		{name: "byte order mark and CRLF, toml (H18)", want: 7 * time.Second, build: func(t *testing.T, folder string) {
			write(t, folder, "acai.toml", "\xef\xbb\xbf[hooks]\r\ntimeout = '7s'\r\n")
		}},
		{name: "a folder", unreadable: "acai.json: the file is not a regular file but a folder",
			build: func(t *testing.T, folder string) { _ = os.Mkdir(filepath.Join(folder, "acai.json"), 0o700) }},
		{name: "a link to nothing", unreadable: "acai.json: the file cannot be read: no such file or directory",
			build: func(t *testing.T, folder string) { _ = os.Symlink("nowhere", filepath.Join(folder, "acai.json")) }},
		{name: "a link to a device that never ends", unreadable: "acai.json: the file is not a regular file but a device",
			build: func(t *testing.T, folder string) { _ = os.Symlink("/dev/zero", filepath.Join(folder, "acai.json")) }},
		{name: "a link to a file", want: 7 * time.Second, build: func(t *testing.T, folder string) {
			write(t, folder, "real.json", good)
			_ = os.Symlink("real.json", filepath.Join(folder, "acai.json"))
		}},
		{name: "a gigabyte", unreadable: "acai.json: the file is larger than 1MiB",
			build: func(t *testing.T, folder string) {
				write(t, folder, "acai.json", good)
				if err := os.Truncate(filepath.Join(folder, "acai.json"), 1<<30); err != nil {
					t.Fatal(err)
				}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(tt.name, "link") {
				t.Skip("links need a privilege on Windows")
			}
			folder := t.TempDir()
			tt.build(t, folder)
			began := time.Now()
			f := Read(folder, protocol.User, Look{})
			layer, findings := f.Settings, f.Findings
			if took := time.Since(began); took > time.Second {
				t.Errorf("reading took %s", took)
			}
			for i := range findings {
				findings[i].File = filepath.Base(findings[i].File)
			}
			if diff := cmp.Diff(tt.findings, lines(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			checkUnreadable(t, folder, tt.unreadable, f.Bad)
			got, _ := layer.Values["hooks.timeout"].V.(time.Duration)
			if got != tt.want {
				t.Errorf("timeout = %s, want %s", got, tt.want)
			}
			if read := layer.Hash != ""; read != (tt.want > 0) {
				t.Errorf("hash = %q", layer.Hash)
			}
		})
	}
}

func checkUnreadable(t *testing.T, folder, want string, unreadable *schema.UnreadableError) {
	t.Helper()
	if want == "" {
		if unreadable != nil {
			t.Errorf("error: %v", unreadable)
		}
		return
	}
	if unreadable == nil {
		t.Fatal("no error")
	}
	got := strings.ReplaceAll(unreadable.Error(), folder+string(filepath.Separator), "")
	if diff := cmp.Diff("settings "+want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if f := unreadable.Finding(); f.Remedy == "" || f.File != unreadable.File {
		t.Errorf("finding: %+v", f)
	}
}

// A gigabyte of settings is refused by its size alone: nothing of it stays in
// memory (G8).
func TestHugeSettingsAreNotRead(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "acai.json", "{")
	if err := os.Truncate(filepath.Join(folder, "acai.json"), 1<<30); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := Read(folder, protocol.User, Look{})
	runtime.ReadMemStats(&after)
	if f.Bad == nil {
		t.Error("no error")
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("reading allocated %d bytes", grown)
	}
}
