// Package daemon serves hooks to programs in any language: JSON-RPC 2.0, one
// message a line, over stdin and stdout or a Unix socket.
package daemon
