// Package acpterminal shows the commands of hookd acp in terminals of the editor, where a person
// reads them as they run and can end them.
//
// The commands themselves run where all others run: below hookd, contained, with hookd's environment
// and limits. What the editor runs in its terminal is hookd as a screen ([Role], program.go): it
// connects to a socket of the agent's, prints what it is sent, and leaves with the command's exit
// code. So no command leaves its container for a terminal, none can run twice, and what its result
// says does not depend on a terminal.
//
//	runner.go   Runner: a command of the loop, with a screen if the editor opens one in time
//	opening.go  terminal/create, and how a terminal is given back in every case
//	screen.go   the agent's end of the socket
//	program.go  the editor's end: hookd acp-terminal
//	frames.go   what is said between them
//
// Who connects must be of our user, in a folder that is open to nobody else, and say a word that
// only the environment of the terminal holds. The other end of the connection is the terminal's
// life: when it is gone before the command, the person has closed it, and the command is ended.
package acpterminal
