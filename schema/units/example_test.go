package units_test

import (
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/schema/units"
)

func ExampleParseDuration() {
	d, err := units.ParseDuration("1m30s")
	fmt.Println(d.Seconds(), err)
	_, err = units.ParseDuration("30")
	fmt.Println(err)
	fmt.Println(units.FormatDuration(5*time.Minute), units.FormatDuration(30*units.Day))
	// Output:
	// 90 <nil>
	// "30" has no unit
	// 5m 30d
}
