// Package fsutil replaces files in one step: [ReplaceFile]. Every file that hookd
// writes for itself as a whole goes through it.
package fsutil
