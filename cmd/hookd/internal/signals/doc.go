// Package signals decides what the signals of a person or a supervisor do to a command.
//
// The first signal ends the context of the command, which then ends in good order: hooks
// are asked to end, records are written. The second ends that order where the command has
// one (see [Handler.OnForceQuit]), else the process. The last always ends the process,
// after the terminal was restored. A conversation takes the interrupts itself (see
// [Handler.TakeInterrupts]): there an interrupt ends a turn, and only two of them hookd.
package signals
