// Package forced counts how often hooks made a run go on that was done. The agent loop and
// the guard of other agents count with it. Hooks of each origin have a count of their own: a
// project's hooks that force a run on and on do not use up what those of the machine have.
package forced
