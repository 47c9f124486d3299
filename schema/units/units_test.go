package units

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		err  string
	}{
		{"500ms", 500 * time.Millisecond, ""},
		{"30s", 30 * time.Second, ""},
		{"2m", 2 * time.Minute, ""},
		{"1m30s", 90 * time.Second, ""},
		{"1.5h", 90 * time.Minute, ""},
		{"30d", 720 * time.Hour, ""},
		{"0s", 0, ""},
		{"", 0, "an empty string is no duration"},
		{"30", 0, `"30" has no unit`},
		{"soon", 0, `"soon" is no duration`},
		{"-5s", 0, `"-5s" is no duration`},
		{"5 s", 0, `"5 s" has no unit`},
		{"5S", 0, `"S" is no unit of time`},
		{"5us", 0, `"us" is no unit of time`},
		{"1m30", 0, `"1m30" has no unit`},
		{"1e3s", 0, `"e" is no unit of time`},
		{"999999999999d", 0, `"999999999999d" is too long`},
		{"9999999999999999999s", 0, `"9999999999999999999s" has no unit`},
		{"NaNs", 0, `"NaNs" is no duration`},
	}
	for _, tt := range tests {
		got, err := ParseDuration(tt.text)
		if got != tt.want || message(err) != tt.err {
			t.Errorf("ParseDuration(%q) = %s, %q; want %s, %q", tt.text, got, message(err), tt.want, tt.err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFormatDuration(t *testing.T) {
	tests := map[time.Duration]string{
		0: "0s", 10 * time.Millisecond: "10ms", 1500 * time.Millisecond: "1.5s", time.Minute: "1m",
		90 * time.Second: "1m30s", time.Hour: "1h", 90 * time.Minute: "1h30m", 24 * time.Hour: "24h", 720 * time.Hour: "30d",
	}
	for d, want := range tests {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", d, got, want)
		}
		if back, err := ParseDuration(want); err != nil || back != d {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", want, back, err, d)
		}
	}
}

func TestParseSize(t *testing.T) {
	tests := []struct {
		text string
		want int64
		err  string
	}{
		{"0", 0, ""}, {"65536", 65536, ""}, {"12B", 12, ""}, {"64KiB", 64 << 10, ""}, {"1MiB", 1 << 20, ""}, {"2GiB", 2 << 30, ""},
		{"9223372036854775807", 1<<63 - 1, ""},
		{"9223372036854775808", 0, `"9223372036854775808" is no size`},
		{"8589934592GiB", 0, `"8589934592GiB" is no size`},
		{"", 0, `"" is no size`}, {"KiB", 0, `"KiB" is no size`}, {"-1", 0, `"-1" is no size`}, {"1.5MiB", 0, `"1.5MiB" is no size`},
		{"1KB", 0, `"KB" is no unit of size`}, {"1M", 0, `"M" is no unit of size`}, {"1kib", 0, `"kib" is no unit of size`}, {"1e6", 0, `"1e6" is no size`},
	}
	for _, tt := range tests {
		got, err := ParseSize(tt.text)
		if got != tt.want || message(err) != tt.err {
			t.Errorf("ParseSize(%q) = %d, %q; want %d, %q", tt.text, got, message(err), tt.want, tt.err)
		}
	}
}

// What is written is read back as it was, whatever it is.
func FuzzDurationAndSize(f *testing.F) {
	for _, text := range []string{"1m30s", "30d", "64KiB", "1.5h", "0", "9999999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDuration(text); err == nil {
			if back, err := ParseDuration(FormatDuration(d)); d < 0 || d >= time.Millisecond && d%time.Millisecond == 0 && (err != nil || back != d) {
				t.Errorf("%q: %d came back as %d, %v", text, d, back, err)
			}
		}
		if size, err := ParseSize(text); err == nil {
			if back, err := ParseSize(FormatSize(size)); size < 0 || err != nil || back != size {
				t.Errorf("%q: %d came back as %d, %v", text, size, back, err)
			}
		}
	})
}
