package exechook

import "github.com/hookd-dev/hookd/executor/process"

// lookWhereFilesAre finds out whether all that starting the program reads lies on file
// systems of this machine. A start waits for its files, and a file on a server that is
// gone never comes: no context ends that wait. Where it cannot be known, the program is
// asked in a goroutine of its own.
func (p *Program) lookWhereFilesAre() {
	if p.local.Load() {
		return
	}
	for _, path := range []string{p.config.Path, p.config.Dir, process.InterpreterOf(p.config.Path)} {
		if path != "" && !onThisMachine(path) {
			return
		}
	}
	p.local.Store(true)
}
