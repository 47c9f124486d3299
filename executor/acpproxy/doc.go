// Package acpproxy guards an agent of the Agent Client Protocol.
package acpproxy
