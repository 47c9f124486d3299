package units

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Duration is a span of time as settings write it: a string with a unit (500ms,
// 30s, 2m, 1m30s, 30d), or a bare number of seconds.
type Duration time.Duration

// String returns the duration with its unit: 500ms, 1m30s, 30d.
func (d Duration) String() string { return FormatDuration(time.Duration(d)) }

// MarshalText writes the duration with its unit.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a duration with a unit.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Day is 24 hours.
const Day = 24 * time.Hour

var durationUnits = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": Day,
}

var durationPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,18}(?:\.[0-9]{1,18})?)([a-zA-Zµ]*)`) })

// ParseDuration reads a string with a unit; the units are ms, s, m, h and d, and
// several parts add up (1m30s). There are no negative durations.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, fmt.Errorf("an empty string is no duration")
	}
	var total float64
	for rest := text; rest != ""; {
		part := durationPart().FindStringSubmatch(rest)
		if part == nil {
			return 0, fmt.Errorf("%q is no duration", text)
		}
		rest = rest[len(part[0]):]
		number, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, fmt.Errorf("%q is no duration", text)
		}
		unit, known := durationUnits[part[2]]
		switch {
		case part[2] == "":
			return 0, fmt.Errorf("%q has no unit", text)
		case !known:
			return 0, fmt.Errorf("%q is no unit of time", part[2])
		}
		total += number * float64(unit)
	}
	if total >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is too long", text)
	}
	return time.Duration(math.Round(total)), nil
}

// Seconds reads a bare number, which counts seconds.
func Seconds(number string) (time.Duration, error) {
	s, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(s) || s*float64(time.Second) >= math.MaxInt64:
		return 0, fmt.Errorf("%s seconds is too long", number)
	case s < 0:
		return 0, fmt.Errorf("a duration cannot be negative")
	}
	return time.Duration(math.Round(s * float64(time.Second))), nil
}

// FormatDuration writes a duration the short way that [ParseDuration] reads:
// whole days as 30d, no empty parts at the end (5m, not 5m0s).
func FormatDuration(d time.Duration) string {
	if d >= 2*Day && d%Day == 0 {
		return strconv.FormatInt(int64(d/Day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
