package trustcmd

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
)

// showCode prints a whole text, or its two ends with what is left out between them.
func showCode(p *show.Printer, text []byte, left int64) {
	const prefix = "    │ "
	head, tail, left := shownParts(text, left)
	p.Code(prefix, string(head))
	if left > 0 {
		showLeft(p, left)
		p.Code(prefix, string(tail))
	}
}

func showLeft(p *show.Printer, left int64) {
	p.Print("    %s\n", p.In(show.Warn, "… "+bytesOf(left)+" not shown …"))
}

// showCodeDiff prints what changed in a file. Of a long one the two ends are
// compared, each with its like; what is left out between them counts as not shown.
func showCodeDiff(p *show.Printer, f *loader.PlanFile) {
	wasHead, wasTail, wasLeft := shownParts(f.WasText, f.WasLeft)
	head, tail, left := shownParts(f.Text, f.Left)
	if wasLeft == 0 && left == 0 {
		p.CodeDiff("    ", string(f.WasText), string(f.Text))
		return
	}
	p.CodeDiff("    ", string(wasHead), string(head))
	showLeft(p, left)
	p.CodeDiff("    ", string(wasTail), string(tail))
}

// Limits of a file that is not text, of which nobody reads much.
const (
	garbledEnds  = 2 << 10 // bytes shown of each end
	garbledShare = 4       // one character in so many that must be escaped makes it one of those
)

// shownParts returns the two ends of a file that are shown, and how many bytes between
// them are not.
func shownParts(text []byte, left int64) (head, tail []byte, unshown int64) {
	if cut := loader.ShownHead; left > 0 {
		head, tail = text[:cut], text[cut:]
	} else {
		head = text
	}
	if len(text) > 4*garbledEnds && garbled(text) {
		head, tail = text[:garbledEnds], text[len(text)-garbledEnds:]
		left += int64(len(text) - 2*garbledEnds)
	}
	return head, tail, left
}

// garbled reports whether a file is mostly not text.
func garbled(text []byte) bool {
	escaped := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			escaped++
		}
		i += size
	}
	return escaped > len(text)/garbledShare
}

// isBinary reports whether a file is machine code by the mark at its beginning: ELF,
// Mach-O, PE or WebAssembly. A text for an interpreter cannot hide under such a mark:
// all of a binary counts as not shown.
func isBinary(text []byte) bool {
	for _, mark := range []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ", "\x00asm"} {
		if bytes.HasPrefix(text, []byte(mark)) {
			return bytes.IndexByte(text[:min(len(text), 64)], 0) >= 0
		}
	}
	return false
}

// unshown returns how many bytes of an item that is to be decided about are not printed.
func unshown(item *loader.PlanItem) (sum int64) {
	if item.State == loader.StateTrusted || item.State == loader.StateGone {
		return 0
	}
	if item.State == loader.StateDenied {
		item = asNew(item)
	}
	for i := range item.Files {
		f := &item.Files[i]
		switch {
		case f.Sum == f.WasSum || f.Sum == "":
		case isBinary(f.Text):
			sum += f.Size
		default:
			_, _, left := shownParts(f.Text, f.Left)
			sum += left
		}
	}
	return sum
}

// NotShown says in the question how much of what is asked about was not printed, ""
// where all of it was.
func NotShown(plan *loader.Plan, names []string) string { return notShown(plan, names, 0) }

// notShown is [NotShown] where more was left out than files.
func notShown(plan *loader.Plan, names []string, sum int64) string {
	for i := range plan.Items {
		if slices.Contains(names, plan.Items[i].Hook) {
			sum += unshown(&plan.Items[i])
		}
	}
	switch {
	case sum == 0:
		return ""
	case len(names) == 1:
		return " (" + bytesOf(sum) + " of it not shown)"
	}
	return " (" + bytesOf(sum) + " of them not shown)"
}

func bytesOf(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return show.Number(n) + " bytes"
}
