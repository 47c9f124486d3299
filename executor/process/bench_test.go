package process

import (
	"bytes"
	"os/exec"
	"testing"
)

// benchmarkInput is as large as an ordinary event.
var benchmarkInput = bytes.Repeat([]byte("x"), 600)

func BenchmarkRun(b *testing.B) {
	for _, kind := range []Kind{Cgroup, Subreaper, Group} {
		b.Run(string(kind), func(b *testing.B) { benchmarkRun(b, Options{Containment: kind}) })
	}
	b.Run("group/portable", func(b *testing.B) { benchmarkRun(b, Options{Containment: Group, portable: true}) })
}

func benchmarkRun(b *testing.B, options Options) {
	rt, err := New(options)
	if err != nil {
		b.Skip(err)
	}
	defer rt.Close()
	c := &Command{Path: "/bin/true", Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Stdin: [][]byte{benchmarkInput}}
	for b.Loop() {
		r := rt.Run(b.Context(), c)
		if r.Err != nil || r.ExitCode != 0 {
			b.Fatal(r.Err, r.ExitCode)
		}
		<-r.Gone
	}
}

// BenchmarkOSExec is the same with the standard library, and without any
// containment or bound.
func BenchmarkOSExec(b *testing.B) {
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), "/bin/true")
		cmd.Stdin = bytes.NewReader(benchmarkInput)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
