// Package limits holds what bounds an agent's run, and what the run has used.
//
// [Run] is the time of a run, which stands still while a person is asked, and the number
// of its steps (run.go). [Usage] is the sum of its model calls (usage.go). A run that works
// for another run has that one as its parent: its usage counts there too, and a pause stops
// the time of both. [Exclusion] keeps tools and questions to a person apart (exclusion.go).
// After an abort a deadline bounds the events that must still be fired (abort.go).
package limits
