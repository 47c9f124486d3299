package protocol_test

import (
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

func init() {
	protocol.ReadReplyForTest = func(spec *protocol.Spec, hook protocol.HookInfo, stdout string, exit *int) protocol.ReadResult {
		return readreply.Read(spec, hook, []byte(stdout), nil, readreply.ProcessEnd{Exit: exit}, "", readreply.Limits{})
	}
}
