//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math"
	"time"
)

// series is one way of running a hook, in the colour it has in the plot.
type series struct {
	name, colour    string
	contest, player string // %s is the language
}

var plotSeries = []series{
	{"floor: bare spawn", "#8a8f98", "plain/%s/1KiB", playerFloor},
	{"default settings", "#2f6fb5", "plain/%s/1KiB", playerDefault},
	{"standby", "#d98a1f", "modes/%s/1KiB", playerStandby},
	{"resident", "#3c9a5f", "modes/%s/1KiB", playerResident},
}

const (
	plotWidth, plotLeft, plotRight = 860, 90, 90
	barHeight, groupGap, plotTop   = 18, 18, 84
)

// drawPlot draws the time to the answer for an event of 1 KiB, by language and
// mode. The axis is logarithmic: a start of Node and an answer of a resident
// hook are three powers of ten apart.
func drawPlot(results []*result) []byte {
	var rows bytes.Buffer
	low, high := plotRange(results)
	span := math.Log10(float64(high) / float64(low))
	x := func(d time.Duration) float64 {
		return plotLeft + (plotWidth-plotLeft-plotRight)*math.Log10(float64(d)/float64(low))/span
	}
	y := plotTop
	for _, language := range languageNames {
		top, bars := y, 0
		for _, s := range plotSeries {
			standing := lookUp(results, fmt.Sprintf(s.contest, language), s.player)
			if standing == nil || standing.median <= 0 {
				continue
			}
			bars++
			fmt.Fprintf(&rows, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", plotLeft, y, x(standing.median)-plotLeft, barHeight-3, s.colour)
			fmt.Fprintf(&rows, `<text x="%.1f" y="%d" class="value">%s</text>`+"\n", x(standing.median)+6, y+barHeight-6, short(standing.median))
			y += barHeight
		}
		if bars > 0 {
			fmt.Fprintf(&rows, `<text x="%d" y="%d" text-anchor="end" class="name">%s</text>`+"\n", plotLeft-12, (top+y)/2+3, language)
			y += groupGap
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", plotWidth, y+30, plotWidth, y+30)
	out.WriteString("<style>.name{font-weight:bold}.value,.tick{font-size:12px;fill:#444}</style>\n")
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", plotWidth, y+30)
	fmt.Fprintf(&out, `<text x="%d" y="28" font-size="17" font-weight="bold">Time to the answer, event of 1 KiB (median, logarithmic)</text>`+"\n", plotLeft)
	for i, s := range plotSeries {
		left := plotLeft + i*170
		fmt.Fprintf(&out, `<rect x="%d" y="44" width="13" height="13" fill="%s"/><text x="%d" y="55">%s</text>`+"\n", left, s.colour, left+19, s.name)
	}
	for tick := low; tick <= high; tick *= 10 {
		fmt.Fprintf(&out, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#dddddd"/><text x="%.1f" y="%d" text-anchor="middle" class="tick">%s</text>`+"\n",
			x(tick), plotTop-8, x(tick), y, x(tick), y+16, round(tick))
	}
	out.Write(rows.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// plotRange is from one power of ten to another, around everything drawn.
func plotRange(results []*result) (low, high time.Duration) {
	var all []time.Duration
	for _, language := range languageNames {
		for _, s := range plotSeries {
			if standing := lookUp(results, fmt.Sprintf(s.contest, language), s.player); standing != nil && standing.median > 0 {
				all = append(all, standing.median)
			}
		}
	}
	low, high = 10*time.Microsecond, time.Millisecond
	for _, d := range all {
		for low > d {
			low /= 10
		}
		for high < d {
			high *= 10
		}
	}
	return max(low, 1), high
}

func round(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%d s", d/time.Second)
	case d >= time.Millisecond:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	case d >= time.Microsecond:
		return fmt.Sprintf("%d µs", d/time.Microsecond)
	}
	return fmt.Sprintf("%d ns", d)
}

func lookUp(results []*result, contest, player string) *standing {
	for _, r := range results {
		for i := range r.standings {
			if r.contest == contest && r.standings[i].player == player {
				return &r.standings[i]
			}
		}
	}
	return nil
}
