// Package install puts hookd into the configuration of other agents, takes it out again,
// and says what is there. It is the place where an agent's files, their shapes and its
// conditions for running hooks are known; how events translate is package dialect.
//
// # Use
//
// An [Installer] knows the folders of this person, project and machine.
//
//	plan, err := installer.Plan(install.Request{Agent: a, Scope: install.User, Program: path})
//	… show plan.Files (bytes before and after) and plan.Notes, ask …
//	err = installer.Apply(plan)
//
// [Installer.PlanRemoval] is the same for taking hookd out. [Installer.Status] reads what
// is installed and what keeps it from working, [Installer.Detect] which agents are here.
// Planning reads files and changes nothing; only Apply writes.
//
// # What is promised
//
//   - Every byte that is not ours stays as it was, and after a removal the file has the
//     bytes from before the installation, whatever the person added meanwhile. A file
//     and the folders that were made for it are removed again.
//   - A file that cannot be read as what it should be is not touched, and neither is one
//     that changed between plan and write.
//   - A file is replaced in one step: a reader sees the old bytes or the new ones.
//   - Our entries are known by the program they start, whatever its path (command.go), so
//     that a second installation repairs the first one in place of adding to it.
//
// # Files
//
//	agent.go     Agent, Scope, Places: what is known of an agent
//	agents.go    the rows: one for each agent
//	switches.go  settings that keep an agent from running hooks
//	program.go   finds an agent's program and asks it for its version
//	command.go   the command line of an entry: written, and recognised
//	entries.go   the entries of an agent's file, and which of them are ours
//	plan.go      Request → Plan: what to write
//	edit.go      the new text of a configuration file
//	notes.go     what the person should know
//	removal.go   the same for taking hookd out
//	scripts.go   agents whose hooks are files of their own: scripts and plug-ins
//	apply.go     writes a Plan, under a lock, with a backup
//	record.go    what installations changed, in the user's state
//	status.go    what is installed, and what keeps it from working
//
// A new agent is a row in agents.go, and a file in package hosts.
package install
