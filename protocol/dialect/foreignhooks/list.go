package foreignhooks

// All are the agents whose hooks run here, by name.
var All = []*Agent{&claudeHooks, &geminiHooks, &codexHooks, &cursorHooks, &copilotHooks, &kodeletHooks, &openhandsHooks, &acaiHooks}

// Find returns the protocol of a name, nil if there is none.
func Find(name string) *Agent {
	for _, f := range All {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Names are the words of the field dialect, hookd's own first.
func Names() []string {
	names := []string{Own}
	for _, f := range All {
		names = append(names, f.Name)
	}
	return names
}

// Own is the name of hookd's own protocol.
const Own = "hookd"
