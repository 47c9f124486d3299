package wire

import (
	"bytes"
	"net/http"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookd-dev/hookd/protocol"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second}, {"Retry-After", " 0.5 ", 500 * time.Millisecond}, {"Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"Retry-After", "Sat, 28 Nov 2026 12:00:30 GMT", 30 * time.Second}, {"Retry-After", "Sat, 28 Nov 2026 11:00:00 GMT", 0},
		{"Retry-After", "-1", 0}, {"Retry-After", "NaN", 0}, {"Retry-After", "soon", 0}, {"Retry-After", "", 0},
		{"Retry-After", "1e300", maxWait}, {"Retry-After", "Inf", maxWait},
	} {
		if got := retryAfter(http.Header{c.name: {c.value}}, now); got != c.want {
			t.Errorf("%s: %s: %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

func TestObjectKeepsItsOrder(t *testing.T) {
	var o Object
	o.Set("z", 1)
	o.Set("a", "<b>")
	o.Set("gone", true)
	o.Merge([]byte(`{"a":1.10,"gone":null,"a.b":{"y":1,"x":2}}`))
	got, err := protocol.Marshal(&o)
	if err != nil || string(got) != `{"z":1,"a":1.10,"a.b":{"y":1,"x":2}}` {
		t.Errorf("%s %v", got, err)
	}
	o.Merge([]byte(`{"a":`))
	if _, err := protocol.Marshal(&o); err == nil {
		t.Error("broken JSON: no error")
	}
}

func events(t *testing.T, from interface{ Read([]byte) (int, error) }) (list []string) {
	t.Helper()
	for event, err := range Events(from) {
		if err != nil {
			t.Fatal(err)
		}
		text := string(event.Data)
		if event.Name != "" {
			text = event.Name + "=" + text
		}
		list = append(list, text)
	}
	return list
}

func TestEvents(t *testing.T) {
	for text, want := range map[string][]string{
		"data: a\n\ndata:b\n\n":                        {"a", "b"},
		"\ufeffdata: a\r\n\r\ndata: b":                 {"a", "b"},
		": c\nevent: x\nid: 1\ndata: a\ndata:  b\n\n":  {"x=a\n b"},
		"event: x\n\ndata: a\nevent:y\n\n":             {"y=a"},
		"data\n\n\n\n":                                 {""},
		"datax: a\n\n data: b\n\n":                     nil,
		"data: a\rdata: b\r\rdata: c\r\n\ndata: d\n\r": {"a\nb", "c", "d"},
	} {
		got := events(t, bytes.NewReader([]byte(text)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// FuzzEvents asserts that events do not depend on how the stream is cut.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\n: x\rdata:b\n\rdata"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		whole := events(t, bytes.NewReader(stream))
		single := events(t, iotest.OneByteReader(bytes.NewReader(stream)))
		if diff := cmp.Diff(whole, single); diff != "" {
			t.Errorf("(-whole +byte by byte):\n%s", diff)
		}
	})
}

// FuzzRefusal asserts that no answer of a server makes a refusal without a text,
// or one that shows a key.
func FuzzRefusal(f *testing.F) {
	f.Add(400, "application/json", []byte(`{"error":{"message":"x","type":"y","code":null}}`))
	f.Add(200, "text/html", []byte("<title>a</title>"))
	c := NewClient(Options{Provider: "p", KeyName: "K", Secrets: []string{"secretsecret"}})
	f.Fuzz(func(t *testing.T, status int, kind string, text []byte) {
		err := c.Refusal(status, http.Header{}, kind, text)
		if err.Err.Error() == "" || bytes.Contains([]byte(err.Error()), []byte("secretsecret")) && !bytes.Contains([]byte(kind), []byte("secret")) {
			t.Errorf("%q", err)
		}
	})
}
