package process

func prepareProcess(*Options) error { return nil }

func choose(o *Options) (containment, error) { return newGroup(nil) }

func (rt *Runtime) startProgram(c *Command, l *launch) (program, error) { return startPortable(c, l) }
