// Package recipe reads recipes: prompts in markdown files that a person runs by name, and
// that hooks ask for with a callback.
//
//	---
//	name: review
//	description: reviews a file
//	allowed_tools: [read_file, grep]
//	arguments:
//	- name: file
//	  description: path of the file
//	  required: true
//	---
//	Review {{file}} and list what is wrong with it.
//
// A recipe has the tools of allowed_tools, none without that key. {{name}} is the place of
// an argument; a recipe's text cannot make the program do anything else.
//
// [Parse] reads one file and [Recipe.Render] puts arguments into its text (recipe.go). A
// [Library] holds all recipes that can be run: those that come with the program (the folder
// embedded) and those of files, by layer (library.go). [Library.Get] finds one for a person,
// [Library.For] for a hook or a setting, which must not run recipes of a higher layer.
//
// Which files may be used the caller decides: the package looks for none. What is wrong with
// a file is a [Finding] with its line; the other files can be used all the same.
package recipe
