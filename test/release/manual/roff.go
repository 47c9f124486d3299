package manual

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// write returns a page in the roff macros of man.
func (b Book) write(name, command, summary string, h help, see []string) string {
	var p strings.Builder
	p.WriteString(".TH")
	for _, word := range []string{strings.ToUpper(name), "1", b.Date.UTC().Format("2006-01-02"), b.Program + " " + b.Version, "Manual of " + b.Program} {
		p.WriteString(` "` + escape(word) + `"`)
	}
	p.WriteString("\n.\\\" Made of the program's --help.\n")
	p.WriteString(".nh\n.ad l\n") // no hyphens and no wide gaps: what is here is copied
	p.WriteString(".SH NAME\n" + escape(name) + ` \- ` + escape(summary) + "\n")
	p.WriteString(".SH SYNOPSIS\n")
	for i, form := range h.usage {
		if i > 0 {
			p.WriteString(".br\n")
		}
		rest := strings.TrimPrefix(form, command)
		p.WriteString(line(`\fB` + escape(form[:len(form)-len(rest)]) + `\fR` + escape(rest)))
	}
	if len(h.description) > 0 {
		p.WriteString(".SH DESCRIPTION\n")
		writeText(&p, h.description)
	}
	if len(h.examples) > 0 {
		p.WriteString(".SH EXAMPLES\n")
		writeText(&p, h.examples)
	}
	writeLists(&p, h)
	if len(see) > 0 {
		p.WriteString(".SH SEE ALSO\n")
		for i, page := range see {
			end := ","
			if i == len(see)-1 {
				end = ""
			}
			p.WriteString(`\fB` + escape(page) + `\fR(1)` + end + "\n")
		}
	}
	return p.String()
}

// The columns of a page, and how many of them the macros leave free on the left.
const (
	columns = 78
	margin  = 7
)

// writeText writes running text, whose lines are filled anew, and what is indented, whose
// lines stay. Where these are too wide for the page they begin further to the left.
func writeText(p *strings.Builder, lines []string) {
	for i := 0; i < len(lines); {
		if strings.TrimSpace(lines[i]) == "" {
			p.WriteString(".PP\n")
			i++
			continue
		}
		if !isKept(lines[i]) {
			p.WriteString(line(escape(lines[i])))
			i++
			continue
		}
		widest, begin := 0, i
		for ; i < len(lines) && isKept(lines[i]); i++ {
			widest = max(widest, utf8.RuneCountInString(kept(lines[i])))
		}
		left := min(max(widest+margin-columns, 0), margin)
		p.WriteString(".nf\n")
		if left > 0 {
			fmt.Fprintf(p, ".in -%dn\n", left)
		}
		for _, l := range lines[begin:i] {
			p.WriteString(line(escape(kept(l))))
		}
		if left > 0 {
			p.WriteString(".in\n") // as before
		}
		p.WriteString(".fi\n")
	}
}

func isKept(l string) bool { return strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t") }

func kept(l string) string { return strings.TrimRight(strings.ReplaceAll(l, "\t", "  "), " ") }

// writeLists writes the commands by group, then the flags.
func writeLists(p *strings.Builder, h help) {
	commands := 0
	for _, s := range h.sections {
		if !s.commands {
			continue
		}
		if commands++; commands == 1 {
			p.WriteString(".SH COMMANDS\n")
		}
		p.WriteString(".SS " + escape(s.title) + "\n")
		writeItems(p, s.items)
	}
	for _, s := range h.sections {
		if !s.commands {
			p.WriteString(".SH " + strings.ToUpper(s.title) + "\n")
			writeItems(p, s.items)
		}
	}
	if h.last != "" {
		p.WriteString(".PP\n" + line(escape(h.last)))
	}
}

// mostHang is how many columns may be free on the left of what a row says.
const mostHang = 16

// writeItems writes rows: the word to type in bold, what it says below it.
// The second column of all begins at the same place, if the first has room for it.
func writeItems(p *strings.Builder, items []item) {
	widest := 0
	for _, i := range items {
		widest = max(widest, len(i.name)+2)
	}
	head := ".TP\n"
	if widest <= mostHang {
		head = fmt.Sprintf(".TP %d\n", widest)
	}
	for _, i := range items {
		word, value := i.name, ""
		if at := strings.LastIndex(i.name, " "); at > 0 && !strings.HasPrefix(i.name[at+1:], "-") {
			word, value = i.name[:at], i.name[at:]
		}
		p.WriteString(head + line(`\fB`+escape(word)+`\fR`+escape(value)) + line(escape(i.text)))
	}
}

// line ends a line, and keeps what begins with a dot or a quote from being a request.
func line(text string) string {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text + "\n"
}

// ascii holds what roff would print as another character. Each stays as it is typed.
var ascii = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`)

// escape returns text that roff prints as it is.
func escape(text string) string {
	var b strings.Builder
	for _, r := range ascii.Replace(text) {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
