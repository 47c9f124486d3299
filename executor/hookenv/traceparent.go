package hookenv

import (
	"encoding/hex"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
)

// The shape of a TRACEPARENT of version 00 (W3C Trace Context): version, trace
// id, span id, flags.
const (
	traceIDLength = 32
	spanIDLength  = 16
)

// trace is what all runs of this process share: the trace id that this process was
// given, or a new one.
var trace = sync.OnceValue(func() (t struct{ id, flags string }) {
	t.id, t.flags = readTraceparent(os.Getenv(VarTraceparent))
	if t.id == "" {
		t.id, t.flags = randomHex(traceIDLength), "00"
	}
	return t
})

// NewTraceparent returns the TRACEPARENT of one run: the trace of this process and a
// span of its own.
func NewTraceparent() string {
	t := trace()
	return "00-" + t.id + "-" + randomHex(spanIDLength) + "-" + t.flags
}

// readTraceparent returns the trace id and the flags of a value, and empty texts
// where the value does not follow the standard.
func readTraceparent(value string) (id, flags string) {
	parts := strings.Split(value, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return "", ""
	}
	if !lowerHex(parts[0], 2) || !lowerHex(parts[1], traceIDLength) || !lowerHex(parts[2], spanIDLength) || !lowerHex(parts[3], 2) {
		return "", ""
	}
	if strings.Trim(parts[1], "0") == "" {
		return "", ""
	}
	return parts[1], parts[3]
}

func lowerHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

// randomHex returns random digits that are not all zero.
func randomHex(digits int) string {
	raw := make([]byte, digits/2)
	for i := range raw {
		raw[i] = byte(rand.Uint32())
	}
	raw[0] |= 1
	return hex.EncodeToString(raw)
}
