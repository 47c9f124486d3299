// Package inflight counts work that is under way, so that a Close can wait for it.
package inflight
