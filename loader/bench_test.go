//go:build unix

package loader

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkLoad is what a command that lives for one event pays before it can
// decide: a hundred hooks of a project, all allowed.
func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{10, 100} {
		w := newWorld(b)
		for i := range n {
			w.hook(fmt.Sprintf("h%d.sh", i), blocks)
		}
		if err := w.trust().Allow(w.plan()); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("hooks=%d/cold", n), func(b *testing.B) {
			for b.Loop() {
				if s := w.load(); len(s.Hooks) != n || s.Hooks[0].Status != "ready" {
					b.Fatal(s.Findings)
				}
			}
		})
		b.Run(fmt.Sprintf("hooks=%d/again", n), func(b *testing.B) {
			l, err := newLoader(w.options())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := l.snapshot(context.Background(), 1); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("hooks=%d/unchanged", n), func(b *testing.B) {
			s := w.load()
			for b.Loop() {
				if s.inputs.changed() {
					b.Fatal("changed")
				}
			}
		})
	}
}
