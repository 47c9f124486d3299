package process

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// mechanism is what a [Runtime] contains programs with. It is chosen once, before
// the first program is started, because choosing costs more than most processes
// that run nothing should pay.
type mechanism struct {
	choosing    sync.Mutex  // guards the next three until chosen is set
	chosen      atomic.Bool // the next three do not change any more
	containment containment
	guardian    *guardian // nil unless Options.LongLived

	supervisor *supervisor // nil unless Options.OwnsAllChildren; set by New
}

// choose probes which containment works here, takes what it needs and starts the
// guardian. A choice that failed is tried again by the next call.
func (m *mechanism) choose(o *Options) error {
	if m.chosen.Load() {
		return nil
	}
	m.choosing.Lock()
	defer m.choosing.Unlock()
	if m.chosen.Load() {
		return nil
	}
	chosen, err := choose(o)
	if err != nil {
		return err
	}
	if o.LongLived {
		if m.guardian, err = newGuardian(chosen); err != nil {
			chosen.close()
			return err
		}
		m.supervisor.watches(m.guardian)
	}
	m.containment = chosen
	m.chosen.Store(true)
	return nil
}

// report says what was chosen, or with err why nothing was.
func (m *mechanism) report(err error) Report {
	if !m.chosen.Load() {
		return Report{Misses: fmt.Sprintf("no program can be started: %v", err)}
	}
	report := m.containment.report()
	if report.Guardian == "" {
		report.Guardian = guardianReport(m.guardian != nil)
	}
	return report
}

// close dismisses the guardian and removes what the containment made. No program
// runs any more.
func (m *mechanism) close() error {
	if !m.chosen.Load() {
		return nil
	}
	if m.guardian != nil {
		m.guardian.dismiss()
	}
	return m.containment.close()
}
