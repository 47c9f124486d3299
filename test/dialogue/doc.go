// Package dialogue lets a test be the programs on both sides of a proxy, which say lines to
// each other.
package dialogue
