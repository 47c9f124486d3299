// Package units reads and writes spans of time and numbers of bytes the way settings
// write them: 500ms, 1m30s, 30d; 64KiB, 1MiB. A bare number counts seconds, or bytes.
// Reading and writing are each other's inverse, and nothing is negative.
package units
