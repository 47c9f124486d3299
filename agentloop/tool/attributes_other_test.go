//go:build unix && !linux

package tool

const keepsAttributes = false
