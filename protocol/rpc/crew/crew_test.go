package crew

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Everything is run, at once; few goroutines stay, and none after the end.
func TestCrew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		var c Crew
		var ran, running atomic.Int32
		wait := make(chan struct{})
		for range 3 * mostIdle {
			c.Go(func() {
				running.Add(1)
				<-wait
				ran.Add(1)
			})
		}
		synctest.Wait()
		if n := running.Load(); n != 3*mostIdle {
			t.Errorf("%d run side by side", n)
		}
		close(wait)
		synctest.Wait()
		if n := ran.Load(); n != 3*mostIdle {
			t.Errorf("%d have run", n)
		}
		if n := len(c.idle); n != mostIdle {
			t.Errorf("%d wait", n)
		}
		for range 100 { // one after the other, in the goroutines that are there
			c.Go(func() { ran.Add(1) })
			synctest.Wait()
			if n := len(c.idle); n != mostIdle {
				t.Fatalf("%d wait", n)
			}
		}
		c.Go(func() {
			time.Sleep(time.Second)
			ran.Add(1)
		})
		c.End()
		c.Go(func() { ran.Add(1) })
		time.Sleep(2 * time.Second)
		if n := ran.Load(); n != 3*mostIdle+102 {
			t.Errorf("%d have run", n)
		}
		if len(c.idle) > 0 {
			t.Error("one waits after the end")
		}
	})
}
