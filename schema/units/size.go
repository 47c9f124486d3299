package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// ParseSize reads a whole number of bytes, or one with a unit (B, KiB, MiB, GiB).
func ParseSize(text string) (int64, error) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit, factor := text[len(digits):], int64(0)
	for _, u := range sizeUnits {
		if u.name == unit || unit == "" && u.name == "B" {
			factor = u.bytes
		}
	}
	if factor == 0 {
		return 0, fmt.Errorf("%q is no unit of size", unit)
	}
	number, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || number > uint64(math.MaxInt64/factor) {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return int64(number) * factor, nil
}

// FormatSize writes a size the short way that [ParseSize] reads.
func FormatSize(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes != 0 && u.bytes > 1 && bytes%u.bytes == 0 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(bytes, 10)
}
