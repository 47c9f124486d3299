package loader

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// sideBySide does n pieces of work on all processors and returns when each is
// done. Whoever calls takes part. Another processor is only woken for more than
// few pieces: by then the caller would have done so many.
func sideBySide(n, few int, work func(i int)) {
	var next atomic.Int64
	worker := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			work(i)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)-1, (n-1)/few) {
		others.Go(worker)
	}
	worker()
	others.Wait()
}
