package show

import (
	"strings"
)

// Cell is one cell of a table.
type Cell struct {
	Text string
	Tone Tone
}

// Table is rows of cells under a header, aligned by what a terminal shows.
type Table struct {
	Header []string
	Rows   [][]Cell
}

// Add appends a row.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Write prints the table. Cells are made visible and stay on one line. The
// last column is not padded, and broken below itself where the terminal ends.
func (t *Table) Write(p *Printer) {
	width := make([]int, len(t.Header))
	for i, h := range t.Header {
		width[i] = Width(h)
	}
	for _, row := range t.Rows {
		for i := range row {
			row[i].Text = Line(row[i].Text)
			width[i] = max(width[i], Width(row[i].Text))
		}
	}
	last := 0 // where the last column begins
	for _, w := range width[:len(width)-1] {
		last += w + 2
	}
	header := make([]Cell, len(t.Header))
	for i, h := range t.Header {
		header[i] = Cell{h, Quiet}
	}
	for _, row := range append([][]Cell{header}, t.Rows...) {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(p.In(cell.Tone, cell.Text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-Width(cell.Text)+2))
			}
		}
		line := strings.TrimRight(b.String(), " ")
		if p.Width > 0 && Width(line) > p.Width {
			line = wrapLine(line, last, p.Width)
		}
		p.Raw(line + "\n")
	}
}
