package patterns

import (
	"regexp/syntax"
	"strings"
	"sync"
)

// head is how a text that a pattern matches may begin: its first word, or with open only
// the beginning of that.
type head struct {
	word string
	open bool
}

// maxHeads of a pattern are kept. One with more is compared with every text.
const maxHeads = 128

// MayStart reports whether some text that the pattern matches has this first word, or, with
// open, one that begins so. It is quick, and for passing over texts that cannot match.
func (p *Pattern) MayStart(word string, open bool) bool {
	if p.heads == nil {
		return true
	}
	heads := p.heads()
	for i := range heads {
		h := &heads[i]
		switch {
		case h.word == word,
			h.open && strings.HasPrefix(word, h.word),
			open && strings.HasPrefix(h.word, word):
			return true
		}
	}
	return false
}

// headsOf finds the heads of a pattern once they are asked for.
func headsOf(program func() *syntax.Prog) func() []head {
	return sync.OnceValue(func() []head {
		p := program()
		if p == nil {
			return []head{{open: true}}
		}
		f := headFinder{program: p}
		if f.walk(uint32(p.Start), nil, 0); len(f.found) > maxHeads {
			return []head{{open: true}}
		}
		return f.found
	})
}

type headFinder struct {
	program *syntax.Prog
	found   []head
	steps   int
}

func (f *headFinder) add(word []rune, open bool) {
	h := head{string(word), open}
	for _, known := range f.found {
		if known == h {
			return
		}
	}
	f.found = append(f.found, h)
}

// walk follows the steps from one on, with the runes that were read before.
func (f *headFinder) walk(at uint32, word []rune, depth int) {
	const mostSteps, deepest = 20_000, 200
	if f.steps++; f.steps > mostSteps || depth > deepest || len(f.found) > maxHeads {
		f.add(nil, true)
		return
	}
	switch inst := &f.program.Inst[at]; inst.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		f.walk(inst.Out, word, depth+1)
		f.walk(inst.Arg, word, depth+1)
	case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
		f.walk(inst.Out, word, depth+1)
	case syntax.InstMatch:
		f.add(word, false)
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		f.add(word, true)
	case syntax.InstRune1, syntax.InstRune:
		single := len(inst.Rune) == 1 && syntax.Flags(inst.Arg)&syntax.FoldCase == 0 || len(inst.Rune) == 2 && inst.Rune[0] == inst.Rune[1]
		switch {
		case !single:
			f.add(word, true)
		case inst.Rune[0] == ' ':
			f.add(word, false)
		default:
			f.walk(inst.Out, append(word[:len(word):len(word)], inst.Rune[0]), depth+1)
		}
	}
}
