package patterns

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// Piece is a part of a text: as it stands, or any characters of a class.
type Piece struct {
	Text string
	Any  Class // if not None, any run of these characters, an empty one too
	Some bool  // the run is not empty

	// Again, if not 0, says that so many pieces before this one may stand here again, each
	// time after a blank: what a glob stands for.
	Again int
}

// Class is a set of characters.
type Class int

// The classes of a [Piece].
const (
	None     Class = iota
	Anything       // every character
	Word           // every one but blanks and line ends: what cannot become several words
	Path           // as Name, with slashes and no colon
	Folder         // as Path, with no dot after a slash or at the begin: where homes lie
	Name           // what the name of a file is mostly made of: no slash, blank, quote or character that a shell heeds
)

func (c Class) has(r rune) bool {
	switch c {
	case Anything:
		return true
	case Word:
		return !strings.ContainsRune(" \t\n\v\f\r", r)
	case Path, Folder:
		return r == '/' || r != ':' && Name.has(r)
	case Name:
		return r > ' ' && !strings.ContainsRune("/~$*?[]{}'\"`\\<>|&;", r)
	}
	return false
}

// MayMatch reports whether the pattern matches some text that the pieces stand for. One
// without * and ? also matches a text that goes on after it with a blank.
func (p Pattern) MayMatch(pieces ...[]Piece) bool {
	program := p.program()
	if program == nil {
		return true
	}
	s := states{program: program, seen: make([]bool, len(program.Inst))}
	s.add(uint32(program.Start))
	for _, list := range pieces {
		for i := range list {
			if s.read(list, i); len(s.now) == 0 {
				return false
			}
		}
	}
	return slices.ContainsFunc(s.now, func(at uint32) bool { return program.Inst[at].Op == syntax.InstMatch })
}

// states are the instructions at which a match may stand.
type states struct {
	program *syntax.Prog
	now     []uint32
	next    []uint32
	seen    []bool
	from    []uint32
}

// read reads one of some pieces.
func (s *states) read(list []Piece, at int) {
	piece := &list[at]
	switch {
	case piece.Any == Folder:
		s.folder()
	case piece.Any != None:
		if piece.Some {
			s.one(piece.Any.has)
		}
		s.repeat(piece.Any)
	}
	for _, r := range piece.Text {
		s.step(r)
	}
	if piece.Again == 0 {
		return
	}
	once := list[at-piece.Again : at]
	for before := 0; before < len(s.now); {
		before = len(s.now)
		more := states{program: s.program, seen: slices.Clone(s.seen), now: slices.Clone(s.now)}
		more.step(' ')
		for i := range once {
			more.read(once, i)
		}
		for _, at := range more.now {
			s.add(at)
		}
	}
}

// add adds what is reached from an instruction without reading a character. Assertions
// (^, $, \b) count as met.
func (s *states) add(at uint32) {
	s.from = append(s.from[:0], at)
	for len(s.from) > 0 {
		at := s.from[len(s.from)-1]
		s.from = s.from[:len(s.from)-1]
		if s.seen[at] {
			continue
		}
		s.seen[at] = true
		switch inst := &s.program.Inst[at]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			s.from = append(s.from, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
			s.from = append(s.from, inst.Out)
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL, syntax.InstMatch:
			s.now = append(s.now, at)
		}
	}
}

// step reads one character.
func (s *states) step(r rune) { s.take(func(inst *syntax.Inst) bool { return inst.MatchRune(r) }) }

// one reads one character of some.
func (s *states) one(has func(rune) bool) {
	s.take(func(inst *syntax.Inst) bool { return takesOne(inst, has) })
}

func (s *states) take(takes func(*syntax.Inst) bool) {
	s.now, s.next = s.next[:0], s.now
	clear(s.seen)
	for _, at := range s.next {
		if inst := &s.program.Inst[at]; inst.Op != syntax.InstMatch && takes(inst) {
			s.add(inst.Out)
		}
	}
}

// folder reads the parts of a path, each of at least one character and after a slash, none
// of them hidden.
func (s *states) folder() {
	inPart := states{program: s.program, seen: make([]bool, len(s.program.Inst)), now: slices.Clone(s.now)}
	all := states{program: s.program, seen: make([]bool, len(s.program.Inst))}
	for before := -1; before < len(all.now); {
		before = len(all.now)
		inPart.one(func(r rune) bool { return r != '.' && Name.has(r) })
		inPart.repeat(Name)
		for _, at := range inPart.now {
			all.add(at)
		}
		inPart.now = append(inPart.now[:0], all.now...)
		inPart.step('/')
	}
	*s = all
}

// repeat reads any run of characters of a class.
func (s *states) repeat(class Class) {
	for i := 0; i < len(s.now); i++ { // it grows
		if inst := &s.program.Inst[s.now[i]]; inst.Op != syntax.InstMatch && takesOne(inst, class.has) {
			s.add(inst.Out)
		}
	}
}

// takesOne reports whether an instruction matches one of some characters.
func takesOne(inst *syntax.Inst, has func(rune) bool) bool {
	switch inst.Op {
	case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	case syntax.InstRune1:
		return has(inst.Rune[0])
	}
	if len(inst.Rune) == 1 {
		return has(inst.Rune[0])
	}
	const most = 64 // no class leaves out more in a row
	for i := 0; i+1 < len(inst.Rune); i += 2 {
		for r := inst.Rune[i]; r <= inst.Rune[i+1] && r < inst.Rune[i]+most; r++ {
			if has(r) {
				return true
			}
		}
	}
	return false
}
