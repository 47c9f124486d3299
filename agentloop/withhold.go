package agentloop

import (
	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
)

// keepsResult reports whether a decided tool-call-end leaves the result to the
// model: it passed, or a hook stopped the run, which is no word against the
// result. A rule that stops because a hook could not judge it is one.
func (v *verdict) keepsResult() bool {
	return !v.Withholds()
}

// withheld is the data of a refused event without what was refused: an answer
// or a result that hooks held back is not shown either.
func withheld(v *verdict) protocol.RawMessage {
	var data any
	switch {
	case v.name == protocol.InferenceEnd:
		end := protocol.InferenceEndData{}
		if v.decoded(&end) {
			end.Message.Content = protocol.Content{}
		}
		data = end
	case v.name == protocol.ToolCallEnd && !v.keepsResult():
		end := protocol.ToolCallEndData{}
		v.decoded(&end)
		end.Result = errorResult(v.told())
		data = end
	case v.name == protocol.SubagentStop:
		end := protocol.SubagentStopData{}
		v.decoded(&end)
		if v.Failure != "" {
			end.Response = v.told()
		}
		data = end
	default:
		return v.Event.Data
	}
	encoded, err := protocol.Marshal(data)
	if err != nil {
		return protocol.RawMessage("{}")
	}
	return encoded
}

func (v *verdict) decoded(data any) bool {
	return json.Unmarshal(v.Event.Data, data, decodeOptions) == nil
}
