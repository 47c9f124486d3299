//go:build unix

package integration

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

// lateness is the most by which an outcome was late, of all that were waited for.
type lateness struct {
	events, notices, latest atomic.Int64
}

func (l *lateness) add(t *testing.T, late time.Duration) {
	t.Helper()
	for was := l.latest.Load(); int64(late) > was && !l.latest.CompareAndSwap(was, int64(late)); was = l.latest.Load() {
	}
	if late > lateBound() {
		t.Errorf("the outcome came %s late", late)
	}
}

func (l *lateness) most() time.Duration {
	return max(0, time.Duration(l.latest.Load())).Round(time.Millisecond)
}

// lateBound is what the design allows. A test among others may wait for its turn.
func lateBound() time.Duration {
	if prove.Full() {
		return slack
	}
	return 3 * time.Second
}
