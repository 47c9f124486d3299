// Package notify says that something happened in watched folders, not what. The
// watcher of package loader looks by itself at what changed. [New] opens the watches
// of the operating system through fsnotify; [Polling] is for systems that have no more
// watches: it never says anything, and the watcher looks by the clock.
package notify
