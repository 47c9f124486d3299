// Package meet says where the daemon of a project listens, and who is at the other end of
// a connection. Package socket is built on it. The messenger, hookd-bridge, uses it
// without package net, because its start is what a bridge costs.
//
//	place.go    Path: the socket of a project; Project: the project of a working directory
//	folder_*.go CheckOwn: a folder that belongs to the user and is open to nobody else
//	peer*.go    PeerOf: the user and the process of the other end; which program it runs
package meet
