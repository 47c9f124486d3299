package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestScreenReadsStylesAndBreaksLines(t *testing.T) {
	got := Screen("\x1b[1;31m✗\x1b[m no \x1b[36mguard\x1b[0m\r\n\x1b[2K0123456789ab\r\n", 10)
	want := []Line{
		{{"✗", Style{Bold: true, Color: 31}}, {" no ", Style{}}, {"guard", Style{Color: 36}}},
		{{"0123456789", Style{}}},
		{{"ab", Style{}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// Whatever was printed, the picture is well-formed XML that holds it as text.
func TestPictureIsWellFormed(t *testing.T) {
	text := Draw(Screen("<script>&\"'\x1b[31m]]>\x1b[0m", 40), 40, "a <b> & c")
	var words strings.Builder
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if data, is := token.(xml.CharData); is {
			words.Write(data)
		}
	}
	for _, want := range []string{"<script>&\"'", "]]>", "a <b> & c"} {
		if !strings.Contains(words.String(), want) {
			t.Errorf("%q is not in it:\n%s", want, text)
		}
	}
}
