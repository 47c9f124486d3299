// Package newcmd is hookd new: it writes a hook, and its tests beside it.
package newcmd
