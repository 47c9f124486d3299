// Package socket connects the daemon and its clients on one machine: it makes a Unix
// socket that only programs of the same user can reach ([Listen]), and connects to it
// ([Dial]) with a check at both ends of who the other one is.
//
// The socket lies in a folder that belongs to the user and is open to nobody
// else. A folder that others share would let them put a socket of their own in
// its place, and a false daemon lets everything pass. Package meet has the rules: where
// the socket of a project is, and who is at the other end.
package socket
