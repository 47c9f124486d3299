// Package completion completes what a person writes in a conversation: the /NAME with which
// a line begins, and files after an @.
//
// [Complete] (complete.go) takes the text before the cursor and returns it completed as far
// as that is certain, with the choices that are left. Files are looked up one folder at a
// time, below the project only. It reads names of files and nothing in them: what a prompt
// names, the model reads with its tools, which hooks see.
package completion
