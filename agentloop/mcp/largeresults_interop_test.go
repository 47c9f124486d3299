//go:build interop

package mcp

import (
	"testing"
	"time"
)

// TestVastResults is TestLargeResults with results near the limit of a message. It runs with
// make interop, without the race detector, which makes it slow.
func TestVastResults(t *testing.T) { twoAtOnce(t, "vast", 30_000_000, 10*time.Second) }
