// Package rule asks hooks without a program: settings entries that carry their reply
// themselves (package protocol/rule). A rule stands in the same set as programs: the
// executor matches it, asks it through [New]'s Asker, and folds and records its reply as
// that of any hook. It starts no process and takes no place for one.
//
// What is special about a rule is decided before it is asked: whether it is about the
// event is all that it knows. Where that cannot be told ([executor.Question].Undecided)
// a rule that refuses answers with a question to the person, and any other one is not
// asked.
package rule
