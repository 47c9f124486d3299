package process

import "time"

// heldCell is a control group that a process cannot leave unnoticed. A user who may make a control
// group may also move processes between his own groups, and a program runs as the user that
// we are: it can leave. What left is found as a sub-reaper finds it.
type heldCell struct {
	*cgroupCell
	swept *sweptCell
}

func (h *heldCell) attach(l *launch) {
	h.cgroupCell.attach(l)
	h.swept.attach(l)
}

func (h *heldCell) started(pid int) {
	h.cgroupCell.started(pid)
	h.swept.started(pid)
}

func (h *heldCell) exited() {
	h.swept.exited()
	h.cgroupCell.exited()
}

func (h *heldCell) clean() bool { return h.cgroupCell.clean() && h.swept.clean() }

func (h *heldCell) kill() {
	h.cgroupCell.kill()
	h.swept.kill()
}

func (h *heldCell) empty() bool { return h.cgroupCell.empty() && h.swept.empty() }

// await is not told of what left the group.
func (h *heldCell) await(d time.Duration) {
	if h.populated {
		h.cgroupCell.await(d)
		return
	}
	time.Sleep(d)
}

func (h *heldCell) free() {
	h.swept.free()
	h.cgroupCell.free()
}

func (h *heldCell) record() guardRecord { return h.swept.record() }
