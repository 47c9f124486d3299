package builtin

import "testing"

// TestAttemptOf asserts that only the end of the data is read where it tells, and
// all of it where something looks like that end.
func TestAttemptOf(t *testing.T) {
	for data, want := range map[string]int{
		`{"model":"m","attempt":3}`: 3,
		`{"attempt":12}`:            12,
		`{"messages":[{"role":"…not read at all…,"attempt":3}`: 3,
		`{"attempt":2,"params":{}}`:                            2,
		`{"attempt":2,"params":{"attempt":7}}`:                 2,
		`{"attempt":2,"x\",\"attempt":7}`:                      2,
		`{"attempt": 4 }`:                                      4,
		`{"params":{}}`:                                        0,
		`{"attempt":"3"}`:                                      -1,
		`{"attempt":`:                                          -1,
	} {
		got, err := attemptOf([]byte(data))
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %d %v, want %d", data, got, err, want)
		}
	}
}
