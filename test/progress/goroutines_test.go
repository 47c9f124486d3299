package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const (
	plainTest = "package p\nimport \"testing\"\nfunc TestOne(t *testing.T) {}\n"
	module    = "example.org/m"
)

func TestTestsOfOneGoroutineRunWithoutTheRaceDetector(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		many  bool
	}{
		"nothing starts":                    {map[string]string{"p/p.go": "package p\nfunc F() {}\n"}, false},
		"a go statement":                    {map[string]string{"p/p.go": "package p\nfunc F() { go F() }\n"}, true},
		"a go statement within a function":  {map[string]string{"p/p.go": "package p\nvar f = func() { for { go func() {}() } }\n"}, true},
		"a wait group":                      {map[string]string{"p/p.go": "package p\nimport \"sync\"\nfunc F(w *sync.WaitGroup) { w.Go(func() {}) }\n"}, true},
		"a method that is not called here":  {map[string]string{"p/p.go": "package p\nimport \"sync\"\nfunc F(w *sync.WaitGroup) any { return w.Go }\n"}, true},
		"a timer":                           {map[string]string{"p/p.go": "package p\nimport \"time\"\nvar _ = time.AfterFunc\n"}, true},
		"a server":                          {map[string]string{"p/p.go": "package p\nimport _ \"net/http\"\n"}, true},
		"C":                                 {map[string]string{"p/p.go": "package p\nimport \"C\"\n"}, true},
		"a lock alone":                      {map[string]string{"p/p.go": "package p\nimport \"sync\"\nvar _ sync.Mutex\n"}, false},
		"the test":                          {map[string]string{"p/more_test.go": "package p\nfunc f() { go f() }\n"}, true},
		"the test from outside":             {map[string]string{"p/more_test.go": "package p_test\nfunc f() { go f() }\n"}, true},
		"a test that runs beside others":    {map[string]string{"p/more_test.go": "package p\nimport \"testing\"\nfunc TestTwo(t *testing.T) { t.Parallel() }\n"}, true},
		"what the package imports":          {map[string]string{"p/p.go": "package p\nimport _ \"example.org/m/q\"\n", "q/q.go": "package q\nfunc F() { go F() }\n"}, true},
		"what that imports":                 {map[string]string{"p/p.go": "package p\nimport _ \"example.org/m/q\"\n", "q/q.go": "package q\nimport _ \"example.org/m/r\"\n", "r/r.go": "package r\nfunc F() { go F() }\n"}, true},
		"what the test imports":             {map[string]string{"p/more_test.go": "package p\nimport _ \"example.org/m/q\"\n", "q/q.go": "package q\nfunc F() { go F() }\n"}, true},
		"tests of what the package imports": {map[string]string{"p/p.go": "package p\nimport _ \"example.org/m/q\"\n", "q/q.go": "package q\n", "q/q_test.go": "package q\nfunc f() { go f() }\n"}, false},
		"a file only for the race detector": {map[string]string{"p/race.go": "//go:build race\n\npackage p\nfunc f() { go f() }\n"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for path, text := range c.files {
				write(t, filepath.Join(folder, path), text)
			}
			write(t, filepath.Join(folder, "go.mod"), "module "+module+"\n\ngo 1.26\n")
			write(t, filepath.Join(folder, "p", "p_test.go"), plainTest)
			found, err := split(folder)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(found.many, module+"/p"); got != c.many || got == slices.Contains(found.one, module+"/p") || len(found.apart) > 0 {
				t.Errorf("%+v", found)
			}
		})
	}
}

func TestFilesThatOnlyComputeRunWithoutTheRaceDetector(t *testing.T) {
	folder := t.TempDir()
	const apart = "//go:build !concurrent\n\npackage p\nimport \"testing\"\nfunc TestApart(t *testing.T) {}\nfunc Testimony() {}\nfunc FuzzApart(f *testing.F) {}\n"
	for path, text := range map[string]string{
		"go.mod": "module " + module + "\n\ngo 1.26\n",
		"p/p.go": "package p\nfunc F() { go F() }\n", "p/p_test.go": plainTest, "p/apart_test.go": apart,
		"q/q.go": "package q\nfunc F() { go F() }\n", "q/apart_test.go": strings.Replace(apart, "package p", "package q", 1),
		"r/apart_test.go": strings.Replace(apart, "package p", "package r", 1),
		"s/s.go":          "package s\nfunc F() { go F() }\n",
	} {
		write(t, filepath.Join(folder, path), text)
	}
	found, err := split(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := &tests{many: []string{module + "/p"}, one: []string{module + "/q", module + "/r"}, apart: []string{module + "/p"}, names: []string{"TestApart", "FuzzApart"}}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("%+v, want %+v", found, want)
	}
}

func TestALibraryThatIsNotListedMayStartGoroutines(t *testing.T) {
	s := splitter{starts: map[string]bool{}}
	for path, want := range map[string]bool{
		"strings": false, "os/exec": false, "net/http": true, "github.com/google/go-cmp/cmp": false,
		"golang.org/x/sys/unix": false, "golang.org/x/sync/errgroup": true, "example.org/new": true,
	} {
		if got, err := s.importStarts(path); got != want || err != nil {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
}

// The split of hookd's own packages: where programs run and where events are handled at the
// same time the detector looks on; what only reads and translates is tested without it.
func TestWhatHandlesEventsAtTheSameTimeIsTestedWithTheRaceDetector(t *testing.T) {
	found, err := split(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"agentloop", "agentloop/mcp", "client", "executor", "executor/daemon", "executor/process", "executor/record", "loader", "protocol/rpc/relay", "test/integration"} {
		if !slices.Contains(found.many, "github.com/hookd-dev/hookd/"+p) {
			t.Errorf("%s is tested without the race detector", p)
		}
	}
	for _, p := range []string{"protocol", "protocol/dialect/hosts", "protocol/readreply", "protocol/rpc", "internal/shellwords"} {
		if !slices.Contains(found.one, "github.com/hookd-dev/hookd/"+p) {
			t.Errorf("%s is tested with the race detector, though nothing there starts a goroutine", p)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
