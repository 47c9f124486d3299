package agentloop

import (
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/protocol"
)

// Provider is one feature of the loop; see [provider.Provider].
type Provider = provider.Provider

// takeProviders lets the providers' hooks join the gate and their tools the
// others.
func (o *Options) takeProviders() error {
	var hooks []protocol.GoHook
	o.Tools = slices.Clone(o.Tools)
	for _, p := range o.Providers {
		hooks = append(hooks, p.Hooks...)
		o.Tools = append(o.Tools, p.Tools...)
		if p.Answered != nil {
			o.answered = append(o.answered, p.Answered)
		}
	}
	if len(hooks) == 0 {
		return nil
	}
	gate, can := o.Gate.(protocol.Extender)
	if !can {
		return fmt.Errorf("the gate (%T) takes no Go hooks in, so the providers' hooks, the default limits among them, cannot join it: "+
			"give it a method Extend (protocol.Extender), as executor.Static has; or set Options.Providers to an empty list, "+
			"and have the gate's own hooks limit the run", o.Gate)
	}
	extended, err := gate.Extend(hooks...)
	if err != nil {
		return err
	}
	o.Gate = extended
	return nil
}
