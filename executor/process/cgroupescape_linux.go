package process

import "time"

// heldCell is a control group that a process cannot leave unnoticed. A user who may make a control
// group may also move processes between his own groups, and a program runs as the user that
// we are: it can leave. What left is found as a sub-reaper finds it.
type sweptCgroup struct {
	*cgroupContainer
	swept *sweptContainer
}

func (h *sweptCgroup) attach(l *launch) {
	h.cgroupContainer.attach(l)
	h.swept.attach(l)
}

func (h *sweptCgroup) started(pid int) {
	h.cgroupContainer.started(pid)
	h.swept.started(pid)
}

func (h *sweptCgroup) exited() {
	h.swept.exited()
	h.cgroupContainer.exited()
}

func (h *sweptCgroup) clean() bool { return h.cgroupContainer.clean() && h.swept.clean() }

func (h *sweptCgroup) kill() {
	h.cgroupContainer.kill()
	h.swept.kill()
}

func (h *sweptCgroup) empty() bool { return h.cgroupContainer.empty() && h.swept.empty() }

// await is not told of what left the group.
func (h *sweptCgroup) await(d time.Duration) {
	if h.populated {
		h.cgroupContainer.await(d)
		return
	}
	time.Sleep(d)
}

func (h *sweptCgroup) free() {
	h.swept.free()
	h.cgroupContainer.free()
}

func (h *sweptCgroup) record() guardRecord { return h.swept.record() }
