// Package outbox is what waits to be written to one client of the daemon.
//
// A response is put into the [Outbox], which counts it in the connection's [Budget], and
// one of the goroutines that put writes what is there. A notification is offered: it is
// left out while the budget is used up. When a write fails nothing more is taken, and
// what the client never got is [Unsent], which [Outbox.Close] returns, so that the daemon
// can log it.
//
//	outbox.go  lines in, one writer
//	budget.go  bytes that a connection holds in memory
//	unsent.go  which requests have lost their responses
package outbox
