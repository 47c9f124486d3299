// Package text helps to write messages for people: [Nearest] finds the known name that a
// misspelt one probably means, [Shorten] cuts a text to a readable
// length, [Count] writes a number with its noun, and [Visible] shows what would hide in a
// text of others or move the cursor.
package text
