// Package realpath finds out which file a path leads to, whatever it is called: links
// are followed, and of a file with several names the others are looked for.
package realpath
