package executor

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/executor/process"
)

// The test binary is also the helper processes of a process.Runtime. No test
// may leave a goroutine behind.
func TestMain(m *testing.M) {
	process.MaybeShim()
	goleak.VerifyTestMain(m)
}
