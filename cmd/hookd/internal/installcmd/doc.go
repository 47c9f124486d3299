// Package installcmd is hookd install and hookd uninstall: they put hookd into the
// configuration of other agents and take it out again. What an agent's files look like
// is package loader/install; here is what the person sees and is asked.
//
//	installcmd.go  the commands, their flags, and which project is meant
//	install.go     plan, show, ask, write, and what is left to do
//	showplan.go    what the person sees of a plan
//	uninstall.go   the same for taking hookd out
//	status.go      --status and --detect
//	monitor.go     --monitor: hooks only watch for a while (package executor/guest)
//	verify.go      hookd verify, and --verify (package loader/install/verify)
//
// Nothing is written before the person has seen it: the changes of all agents are shown,
// then one question is asked. Below a hook or an agent's tool nothing is written at all.
package installcmd
