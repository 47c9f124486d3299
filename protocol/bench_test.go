package protocol

import (
	"strings"
	"testing"
)

func benchEvent(b *testing.B, size int) []byte {
	return []byte(toolCall(`{"command":"` + strings.Repeat(`x\n`, size/3) + `"}`))
}

func BenchmarkDecodeEvent(b *testing.B) {
	text := strings.Repeat(`a line of an ordinary text with a quote \" and a word é in it\n`, 1<<20/64)
	for _, c := range []struct {
		name string
		line []byte
	}{
		{"small", benchEvent(b, 60)},
		{"1MiB text", []byte(toolCall(`{"command":"` + text + `"}`))},
		{"1MiB ASCII", []byte(toolCall(`{"command":"` + strings.Repeat("x", 1<<20) + `"}`))},
		{"8MiB escapes", benchEvent(b, 8<<20)},
	} {
		b.Run(c.name, func(b *testing.B) {
			line := c.line
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeEvent(line, DecodeLimits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One event for ten hooks: encoded once, completed ten times.
func BenchmarkEncodeForTenHooks(b *testing.B) {
	ev, _ := DecodeEvent(benchEvent(b, 60), DecodeLimits{})
	b.ReportAllocs()
	for b.Loop() {
		encoded, _ := Encode(&ev)
		for range 10 {
			encoded.ForHook(Project, OutcomeSoFar{}, nil, nil)
		}
	}
}

func BenchmarkFoldOneChange(b *testing.B) {
	for name, size := range map[string]int{"small": 60, "8MiB": 8 << 20} {
		b.Run(name, func(b *testing.B) {
			ev, err := DecodeEvent(benchEvent(b, size), DecodeLimits{})
			if err != nil {
				b.Fatal(err)
			}
			v := hook("h", CanModify)
			r := ReadResult{Reply: &Reply{Action: Modify, Changes: RawMessage(`{"args":{"flag":true}}`)}}
			b.ReportAllocs()
			for b.Loop() {
				Begin(ev, FoldOptions{}).Add(Answer{HookInfo: v, ReadResult: r})
			}
		})
	}
}
