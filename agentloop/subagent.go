package agentloop

import (
	"context"
	"errors"

	"github.com/hookd-dev/hookd/agentloop/provider"
)

// spawn runs a sub-agent; see [provider.Host].
func (r *Run) spawn(context.Context, provider.SubAgent) (provider.SubResult, error) {
	return provider.SubResult{}, errors.New("this loop cannot start sub-agents yet")
}
