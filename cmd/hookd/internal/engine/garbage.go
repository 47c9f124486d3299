package engine

import (
	"os"
	"runtime/debug"
)

// garbage is how much is allocated, in percent of what is held, before memory is collected.
// With 100, Go's own figure, collecting takes a third of the processor time of an event, and
// now and then one waits milliseconds for it; with 200 a tenth, for 4 MB; with 400 little
// less, for 12 MB.
const garbage = 200

// CollectLess has memory collected less often, in a process that answers events while an agent
// waits, and holds little. Who starts it may say otherwise (GOGC).
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
