package manual

import (
	"fmt"
	"strings"
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

// writeText writes running text, whose lines are filled anew, and what is indented, whose
// lines stay.
func writeText(p *strings.Builder, lines []string) {
	kept := false
	keep := func(now bool) {
		if now != kept && now {
			p.WriteString(".nf\n")
		} else if now != kept {
			p.WriteString(".fi\n")
		}
		kept = now
	}
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			if next := lines[i+1]; kept && !strings.HasPrefix(next, " ") && !strings.HasPrefix(next, "\t") {
				keep(false)
			}
			p.WriteString(".PP\n")
			continue
		}
		keep(strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t"))
		p.WriteString(line(escape(strings.ReplaceAll(l, "\t", "  "))))
	}
	keep(false)
}

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
