package process

import (
	"context"
	"testing"
	"time"
)

func TestRunSmoke(t *testing.T) {
	rt, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rt.Run(t.Context(), &Command{Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", "cat; echo err >&2; exit 3"}, Stdin: []byte("hello\n")})
	if string(r.Stdout) != "hello\n" || string(r.Stderr) != "err\n" || r.ExitCode != 3 || r.Err != nil {
		t.Errorf("%+v", r)
	}
	<-r.Gone
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r = rt.Run(ctx, &Command{Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", "sleep 10"}})
	if r.Err != context.DeadlineExceeded || r.Took > 300*time.Millisecond {
		t.Errorf("%+v", r)
	}
	<-r.Gone
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
}
