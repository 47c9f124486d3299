// Package table holds lists that cost nothing until somebody looks into them: [Words].
//
// Go fills the maps of all packages when the program starts. Agents start hookd for every
// event, and most of these maps are not looked into then. A constant lies in the program's
// file as it is. To look into it is a search from the front, which for some hundred words
// takes less than a microsecond.
package table
