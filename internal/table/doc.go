// Package table holds tables that cost nothing until somebody looks into them.
//
// Go fills the maps of all packages when the program starts. Agents start hookd for every
// event, and most of these maps are not looked into then. [Words] is a constant, and a
// [Rows] of constants lies in the program's file as it is. Looking into them is a search from the front,
// which for some hundred names takes less than a microsecond.
package table
