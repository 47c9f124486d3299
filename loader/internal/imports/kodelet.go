package imports

// kodelet is kodelet, which has a folder of programs in place of settings. Each is asked
// for its event, after it was allowed. Those of plug-ins are not read.
var kodelet = Agent{
	Name: "kodelet", Title: "kodelet", Folder: ".kodelet/hooks",
	Unread: [2][]string{OfProject: {".kodelet/plugins"}, OfUser: {".kodelet/plugins"}},
}

// Program is the hook that a file of the agent's folder is.
func (a *Agent) Program(file string) Hook {
	return Hook{Name: plain(a.Name + ":" + file), Agent: a.Name, Dialect: a.Name, File: file}
}
