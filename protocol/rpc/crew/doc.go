// Package crew runs functions in goroutines that are used again. A goroutine begins with a
// small stack, which is copied each time it has to grow: for a connection that brings one
// event that takes longer than much of the event itself, and for a message that hooks judge
// a twentieth of its time. A [Crew] keeps a few that have ended their work and gives them the
// next.
package crew
