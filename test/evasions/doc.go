// Package evasions holds the packs of rules against shell lines that are known to get past
// guards, and against harmless ones that look like them.
//
//	*.txt          the sets: one shell line each, by kind; harmless.txt is what must pass
//
// A set has a heading (## …) for each kind. ␤ stands for the end of a line inside of one,
// ⟨9⟩ for the character with that number.
package evasions
