// Package guarded is what the commands have in common that start a program and stand between
// it and its client: hookd mcp, and hookd acp in front of an agent.
//
// child.go starts the program, contained as hooks are, with variables of its own (variables.go),
// passes its stderr on, and says how it
// has ended. teller.go tells the person on stderr what hooks did.
// unstarted.go tells the client why nothing begins. left_unix.go finds out that the client has
// died. Nothing but the protocol
// goes to stdout.
package guarded
