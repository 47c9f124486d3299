//go:build interop && unix

package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// binary is the hookd that every test here runs.
var binary string

// peers is where npm puts what it installs, its cache included.
var peers string

func TestMain(m *testing.M) { os.Exit(suite(m)) }

func suite(m *testing.M) int {
	folder, err := os.MkdirTemp("", "hookd-interop-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	binary, peers = filepath.Join(folder, "hookd"), filepath.Join(folder, "peers")
	if kept := os.Getenv("HOOKD_INTEROP_PEERS"); kept != "" { // of a person who runs the tests again and again
		peers = kept
	}
	build := exec.Command("go", "build", "-trimpath", "-o", folder, "github.com/hookd-dev/hookd/cmd/hookd", "github.com/hookd-dev/hookd/cmd/hookd-bridge")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building hookd: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

type installed struct {
	folder, version string
	err             error
}

var (
	installing sync.Mutex
	known      = map[string]installed{}
)

// peer installs a package of npm, or a Go module's program, once for all tests, and returns
// the folder that it lies in. A test whose peer cannot be installed is skipped.
func peer(t *testing.T, name string) string {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	p, done := known[name]
	if !done {
		p = install(name)
		known[name] = p
	}
	if p.err != nil {
		t.Skipf("the peer %s cannot be installed: %v", name, p.err)
	}
	t.Logf("peer %s %s", name, p.version)
	return p.folder
}

func install(name string) (p installed) {
	if strings.HasPrefix(name, "github.com/") {
		return installModule(name)
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			p.err = fmt.Errorf("there is no %s on this machine", program)
			return p
		}
	}
	prefix := filepath.Join(peers, strings.NewReplacer("@", "", "/", "-").Replace(name))
	pkg := name
	if at := strings.LastIndex(name, "@"); at > 0 {
		pkg = name[:at]
	}
	p.folder = filepath.Join(prefix, "node_modules", filepath.FromSlash(pkg))
	if p.version, p.err = npmVersion(p.folder); p.err == nil {
		return p
	}
	if p.err = os.MkdirAll(prefix, 0o755); p.err != nil {
		return p
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", prefix, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error", name)
	npm.Dir, npm.WaitDelay = prefix, time.Second
	npm.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(peers, "cache"), "npm_config_update_notifier=false")
	if out, err := npm.CombinedOutput(); err != nil {
		first, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
		p.err = fmt.Errorf("npm install: %w: %s", err, first)
		return p
	}
	p.version, p.err = npmVersion(p.folder)
	return p
}

// installModule installs the program of a Go module.
func installModule(name string) (p installed) {
	module, version, _ := strings.Cut(name, "@")
	p.folder, p.version = filepath.Join(peers, filepath.Base(module)), version
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "install", "-trimpath", name)
	build.Dir, build.WaitDelay = os.TempDir(), time.Second // in no module
	build.Env = append(os.Environ(), "GOBIN="+p.folder)
	if out, err := build.CombinedOutput(); err != nil {
		first, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
		p.err = fmt.Errorf("go install: %w: %s", err, first)
	}
	return p
}

// npmVersion is the version of a package in its folder.
func npmVersion(folder string) (string, error) {
	var about struct{ Version string }
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	return about.Version, err
}
