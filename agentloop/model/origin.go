package model

// WithOrigin returns a model that says where it comes from: what a person wrote
// to choose it, such as scripted:turns.yaml or anthropic:NAME. Its name stays.
func WithOrigin(m Model, origin string) Model { return withOrigin{m, origin} }

type withOrigin struct {
	Model
	origin string
}

// Origin is what a model was made with [WithOrigin] from, else its name. It is
// for people, who tell two scripts apart by their files; events say the name.
func Origin(m Model) string {
	if known, is := m.(withOrigin); is {
		return known.origin
	}
	return m.Name()
}
