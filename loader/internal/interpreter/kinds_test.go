package interpreter

import (
	"strings"
	"testing"
)

// A program in two lists was now of one kind and now of the other.
func TestAProgramIsOfOneKind(t *testing.T) {
	seen := map[string]Kind{}
	for _, list := range kindNames {
		for name := range strings.FieldsSeq(string(list.names)) {
			if of, again := seen[name]; again {
				t.Errorf("%s is of the kinds %s and %s", name, of, list.of)
			}
			if seen[name] = list.of; KindOf(name) != list.of || KindOf("/usr/bin/"+name+"-3.1") != list.of {
				t.Errorf("%s is of the kind %s", name, KindOf(name))
			}
		}
	}
}
