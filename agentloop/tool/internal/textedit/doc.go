// Package textedit changes text as a model asks for it: [Edit] replaces one piece of a
// text by another, [KeepForm] gives a text that replaces another its line ends.
//
// A model writes plain line ends and cannot see blanks well. So LF of the model matches
// CR LF of the file, and what is written has the line ends of the place; an old text that
// does not occur gets an error that shows what was nearly meant. Everything is linear in
// the size of the text.
package textedit
