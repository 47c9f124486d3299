// Package agentparts lists the parts of the agent loop that settings name: its
// built-in features (agent.providers, agent.features), and who serves a model
// (agent.model, agent.provider).
//
// The tables say what there is; the program makes each part. A feature says which
// settings it puts into force, so that a lower layer cannot switch off what keeps a
// higher layer's limit. A model provider that is played answers from a file, so that
// the one who names the file speaks in the model's place: a project cannot.
package agentparts
