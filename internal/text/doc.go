// Package text helps to write messages for people: [Nearest] finds the known name that a
// misspelt one probably means, [Shorten] cuts a text to a readable
// length, and [Count] writes a number with its noun.
package text
