package hookenv

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAllowed is H36 and H37, and the rules of docs/environment.md.
func TestAllowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the table has paths and variables of Unix; Windows has others")
	}
	project := t.TempDir()
	outside := t.TempDir()
	planted := filepath.Join(outside, "link")
	if err := os.Symlink(project, planted); err != nil {
		t.Fatal(err)
	}
	base := []string{"HOME=/home/u", "USER=u"}
	tests := map[string]struct {
		config Config
		want   []string
	}{
		"secrets stay": {
			Config{Environ: append(base, "PATH=/bin", "FAKE_API_KEY=canary", "GIT_DIR=/a/.git", "GIT_INDEX_FILE=x", "LD_PRELOAD=x", "LANG=C", "LC_ALL=C", "LCX=no", "TZ=UTC", "TMPDIR=/t", "SSL_CERT_FILE=/c", "https_proxy=p", "NO_PROXY=n")},
			[]string{"PATH=/bin", "HOOK_DEPTH=1", "HOME=/home/u", "USER=u", "LANG=C", "LC_ALL=C", "TZ=UTC", "TMPDIR=/t", "SSL_CERT_FILE=/c", "https_proxy=p", "NO_PROXY=n"},
		},
		"named ones go": {
			Config{Environ: append(base, "PATH=/bin", "FAKE_API_KEY=canary", "OTHER=x"), Names: []string{"FAKE_API_KEY", "ABSENT"}},
			[]string{"PATH=/bin", "HOOK_DEPTH=1", "HOME=/home/u", "USER=u", "FAKE_API_KEY=canary"},
		},
		"ours cannot be named": {
			Config{Environ: append(base, "PATH=/bin", "HOOK_FILE=x", "HOOK_DEPTH=1", "TRACEPARENT=x", "HOOK_SESSION_ID=x"), Names: []string{"HOOK_FILE", "HOOK_DEPTH", "TRACEPARENT", "HOOK_SESSION_ID", "PATH"}},
			[]string{"PATH=/bin", "HOOK_DEPTH=2", "HOME=/home/u", "USER=u"},
		},
		"PATH without relative and in-project entries": {
			Config{Environ: append(base, "PATH=:.:bin:"+project+":"+project+"/bin:"+project+"x:"+planted+":/usr/../usr/bin:/bin:/bin"), Project: project},
			[]string{"PATH=" + project + "x:/usr/../usr/bin:/bin", "HOOK_DEPTH=1", "HOME=/home/u", "USER=u"},
		},
		"folders of settings come first": {
			Config{Environ: append(base, "PATH=/bin"), Project: project, Path: []string{"/opt/x", "./tools"}},
			[]string{"PATH=/opt/x:" + project + "/tools:/bin", "HOOK_DEPTH=1", "HOME=/home/u", "USER=u"},
		},
		"no PATH left": {
			Config{Environ: append(base, "PATH=.")},
			[]string{"PATH=/usr/bin:/bin", "HOOK_DEPTH=1", "HOME=/home/u", "USER=u"},
		},
		"repeated and broken": {
			Config{Environ: append(base, "PATH=/bin", "LANG=1", "LANG=2", "nothing", "=x")},
			[]string{"PATH=/bin", "HOOK_DEPTH=1", "HOME=/home/u", "USER=u", "LANG=1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Allowed(test.config)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoHome is the second half of H36: without HOME nothing breaks; it comes
// from the user database, or stays absent.
func TestNoHome(t *testing.T) {
	env := Allowed(Config{Environ: []string{"PATH=/bin", "HOME="}})
	for _, variable := range env {
		if variable == "HOME=" {
			t.Errorf("an empty HOME in %q", env)
		}
	}
}

func TestForHook(t *testing.T) {
	env := ForHook(Config{Environ: []string{"PATH=/bin"}, Project: "/p"}, Execute, "/p/.acai/hooks/a.sh")
	for _, want := range []string{"HOOK_ACTION=execute", "HOOK_PROJECT_DIR=/p", "HOOK_FILE=/p/.acai/hooks/a.sh", "HOOK_DEPTH=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is not in %q", want, env)
		}
	}
}

func TestDepthIn(t *testing.T) {
	for value, want := range map[string]int{
		"0": 0, "1": 1, "7": 7,
		"": unreadableDepth, "-3": unreadableDepth, "x": unreadableDepth, "1e3": unreadableDepth, "9223372036854775807": unreadableDepth,
	} {
		if got := depthIn([]string{"A=1", "HOOK_DEPTH=" + value}); got != want {
			t.Errorf("HOOK_DEPTH=%s: %d, want %d", value, got, want)
		}
	}
	if got := depthIn(nil); got != 0 {
		t.Errorf("without HOOK_DEPTH: %d", got)
	}
}

func TestTraceparent(t *testing.T) {
	const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	tests := map[string]string{
		given:                  "4bf92f3577b34da6a3ce929d0e0e4736",
		"":                     "",
		strings.ToUpper(given): "",
		strings.Replace(given, "4bf92f3577b34da6a3ce929d0e0e4736", strings.Repeat("0", 32), 1): "",
		given + "-more":            "",
		"01" + given[2:] + "-more": "4bf92f3577b34da6a3ce929d0e0e4736",
		"ff" + given[2:]:           "",
		"00-1-2-01":                "",
	}
	for value, want := range tests {
		if got, _ := readTraceparent(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	shape := regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	first, second := NewTraceparent(), NewTraceparent()
	if !shape.MatchString(first) || first[:36] != second[:36] || first == second {
		t.Errorf("two runs: %s, %s", first, second)
	}
}

// Hooks see the allow list and what is named, of two values the first, and nothing that
// hookd sets but the PATH that it is made from.
func TestVisible(t *testing.T) {
	environ := []string{"TOKEN=1", "PATH=/bin", "HOME=/h", "PATH=/x", "OTHER=1", "HOOK_DEPTH=3", "TRACEPARENT=x", "LC_ALL=", "no variable"}
	want := []string{"HOME=/h", "LC_ALL=", "PATH=/bin", "TOKEN=1"}
	if got := Visible(environ, []string{"TOKEN", "HOOK_DEPTH"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Visible(environ, nil); !slices.Equal(got, want[:3]) {
		t.Errorf("%q", got)
	}
}
