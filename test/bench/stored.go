//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// storedMark begins the line of a results file that holds what the page needs. benchstat
// skips it.
const storedMark = "# page: "

// stored is a measurement without the single rounds.
type stored struct {
	Machine, Date string
	Rows          []storedRow
}

type storedRow struct {
	Name, Skipped string
	Standings     []storedStanding
	Figures       []storedFigure
}

type storedStanding struct {
	Player, Against string
	Median, P99     time.Duration
	Ratio           float64
	Samples         int
}

type storedFigure struct {
	Name, Unit string
	Value      float64
}

// store writes the measurement as one line.
func (m measurement) store(w io.Writer) error {
	s := stored{Machine: m.machine, Date: m.date}
	for _, r := range m.results {
		row := storedRow{Name: r.row.name, Skipped: r.skipped}
		for _, one := range r.standings {
			row.Standings = append(row.Standings, storedStanding{one.player, one.against, one.median, one.p99, one.ratio, one.samples})
		}
		for _, f := range r.figures {
			row.Figures = append(row.Figures, storedFigure{f.name, f.unit, f.value})
		}
		s.Rows = append(s.Rows, row)
	}
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", storedMark, line)
	return err
}

// readStored reads the measurement that a results file holds. A row that the program no
// longer has is left out.
func readStored(file string) (measurement, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return measurement{}, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, storedMark); found {
			var s stored
			if err := json.Unmarshal([]byte(rest), &s); err != nil {
				return measurement{}, fmt.Errorf("%s: %w", file, err)
			}
			return s.measurement(), nil
		}
	}
	return measurement{}, fmt.Errorf("%s has no line %q: -o writes it", file, strings.TrimSpace(storedMark))
}

func (s stored) measurement() measurement {
	m, known := measurement{machine: s.Machine, date: s.Date}, rows()
	for _, kept := range s.Rows {
		i := slices.IndexFunc(known, func(r row) bool { return r.name == kept.Name })
		if i < 0 {
			continue
		}
		r := &result{row: known[i], skipped: kept.Skipped}
		for _, one := range kept.Standings {
			r.standings = append(r.standings, standing{player: one.Player, against: one.Against, median: one.Median, p99: one.P99, ratio: one.Ratio, samples: one.Samples})
		}
		for _, f := range kept.Figures {
			r.figures = append(r.figures, figure{f.Name, f.Unit, f.Value})
		}
		m.results = append(m.results, r)
	}
	return m
}
