// Package text holds what messages for people are made of, each once: [Nearest]
// finds the name that somebody probably meant, [Shorten] cuts a text to a readable
// length, [Count] says how many there are of something.
package text
