// Package text helps to write messages for people: [Nearest] finds the known name that a
// misspelt one probably means, and [Shorten] cuts a text to a readable length.
package text
