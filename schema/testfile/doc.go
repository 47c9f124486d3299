// Package testfile reads the tests that lie beside a hook: NAME.test.yaml or
// NAME.test.json.
//
// A file holds a list of tests. Each gives one event, in short form, with its whole data,
// or as it was recorded, and says what must come out of it:
//
//	tests:
//	  - name: a push is refused
//	    command: git push
//	    expect: { verdict: block, reason: { contains: "a person pushes" } }
//	  - command: git status
//	    expect: observe
//
// [Parse] turns the text into a [File]: a list of [Test], each with what is [Given] and
// what is wanted ([Want]). It reads strictly: an unknown key, a value of the wrong type,
// an unknown word, or a test that expects nothing is a finding with file, line and remedy,
// and the test is left out. A test that cannot be read must never count as one that passed,
// so anyone who runs tests treats a finding as a failure.
//
// The package reads no file, makes no event and asks no hook: `hookd test` does
// (cmd/hookd/internal/eventcmd). [Keys] is the table of what a test may hold; reading, the
// JSON Schema (`hookd schema test`) and the documentation go by it.
//
//	keys.go   the table of keys
//	parse.go  a text as a File
//	want.go   what must come out: the forms of expect
//	text.go   a text that must come out: exact, a part, or a /RE2/
//
// Calls run from parse.go to want.go to text.go.
package testfile
