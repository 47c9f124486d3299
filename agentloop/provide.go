package agentloop

import (
	"errors"
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
	extended, err := o.Gate.Extend(hooks...)
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("the gate (%T) takes no Go hooks in, so the providers' hooks, the default limits among them, cannot join it: "+
			"use a gate that takes them, such as that of executor.Static; or set Options.Providers to an empty list, "+
			"and have the gate's own hooks limit the run", o.Gate)
	}
	if err != nil {
		return err
	}
	o.Gate = extended
	return nil
}
