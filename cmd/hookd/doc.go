// Command hookd runs hooks: programs that read an agent's events and observe, block or
// change them before they take effect.
//
// This package only wires. main.go makes the parts that commands share and runs the one
// that was named; commands.go says which there are; root.go is the command line itself,
// with words for what was mistyped; first.go is what hookd alone prints, and help.go makes
// help fit a terminal. agent.go adds the commands of the agent loop, which a lean build
// (lean.go, -tags lean) leaves out.
//
// A command is in a package below internal, by families: hookcmd (init, new, list, check …),
// trustcmd, eventcmd (fire, try), logcmd, servecmd, agentcmd (run) and sessionscmd. What
// they share:
//
//	cli       console, notes, faults with exit codes, flags
//	terminal  what a person types; the streams under the console
//	signals   what a signal ends, and how often it must come
//	places    the project, the state folder
//	engine    opens the hooks of a project
//	report    how outcomes, warnings, findings and listings look
//	show      printing for people, without any knowledge of hooks
//
// A run of the agent is in conversation, chat, jsonsession, runview, question and models.
package main
