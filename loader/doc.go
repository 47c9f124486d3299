// Package loader finds the hooks and settings that rule a project and turns
// them into one immutable set for the executor.
//
// A load goes through the same steps every time: find the project, read the
// settings of the three layers, look into their hooks folders, describe each
// hook from its settings entry, its comment header and its side file (which
// runs nothing), decide for a project's hooks whether a person allowed exactly
// these bytes, ask the programs that described themselves nowhere else, and put
// the result into running order. Nothing of a project runs before it was
// allowed, and what then runs is the private copy made when it was allowed.
//
// A hook that was allowed once and is now changed or gone is never merely
// absent: it stands in the set as a failure under its recorded rule.
//
// [Load] builds one snapshot; [Watch] keeps one current while files change.
package loader
