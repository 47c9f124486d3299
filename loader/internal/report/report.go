package report

import (
	"time"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// A Report collects what the steps of one load say besides their results.
type Report struct {
	Now      time.Time
	Findings []schema.Finding

	// Refuse is why every gate is refused, nil if none is: something that could hold a
	// guard cannot be read.
	Refuse *protocol.Failure

	// HalfWritten says that a file looked as if it was being written.
	HalfWritten bool

	// Recheck is when to load again although nothing changed; zero = never.
	Recheck time.Time

	// Inputs are all files and folders that were looked at.
	Inputs files.Inputs
}

// NewReport returns an empty report of a load that begins now.
func NewReport() *Report { return &Report{Now: time.Now(), Inputs: files.Inputs{}} }

// StableTimeout is how long a load waits for half-written files to be complete
// (protocol, section 6.1), and for files to stop changing while it reads them.
const StableTimeout = 500 * time.Millisecond

// Add adds findings.
func (r *Report) Add(findings ...schema.Finding) { r.Findings = append(r.Findings, findings...) }

// RefuseAll refuses every gate. The first reason stands.
func (r *Report) RefuseAll(detail, remedy string) {
	if r.Refuse == nil {
		r.Refuse = &protocol.Failure{Kind: protocol.FailSettings, Detail: detail, Remedy: remedy}
	}
}

// LookAgain has a watcher load again at a moment although nothing changes.
func (r *Report) LookAgain(at time.Time) {
	if r.Recheck.IsZero() || at.Before(r.Recheck) {
		r.Recheck = at
	}
}

// JustChanged reports whether a file was written so recently that it may be
// half-written.
func (r *Report) JustChanged(st files.Info) bool {
	return max(st.Mtime, st.Ctime) > r.Now.Add(-StableTimeout).UnixNano()
}
