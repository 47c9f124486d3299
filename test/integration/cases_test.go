package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/internal/cases.md maps each kind of trouble from the field to the tests that
// assert the right behaviour. Each named test must exist, and each of the fifty
// kinds must have a row: tests, or the words why it has none yet.
func TestEveryCaseHasItsTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "internal", "cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 3 || cells[0] == "case" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		if !strings.HasPrefix(cells[0], "H") { // of the second table, which has no numbers to count
			checkNamed(t, cells[0], cells[2])
			continue
		}
		rows[cells[0]] = cells[2]
	}
	for n := 1; n <= 50; n++ {
		id := fmt.Sprintf("H%02d", n)
		tests, listed := rows[id]
		if !listed {
			t.Errorf("%s has no row", id)
			continue
		}
		checkNamed(t, id, tests)
	}
}

// checkNamed makes sure that a row names tests, and that each of them exists.
func checkNamed(t *testing.T, id, tests string) {
	t.Helper()
	named := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(tests, -1)
	if len(named) == 0 && !strings.HasPrefix(tests, "not in this version: ") {
		t.Errorf("%s names no test", id)
	}
	for _, name := range named {
		if err := findTest(root(t), name[1]); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// findTest looks for a test: a story by its file name, a Go test as
// FOLDER.TestName, and a row of the fault kit as "fault: NAME".
func findTest(root, name string) error {
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join(root, "test", "integration", "testdata", name))
		return err
	}
	if row, isFault := strings.CutPrefix(name, "fault: "); isFault {
		return contains(filepath.Join(root, "test", "integration", "faults_unix_test.go"), fmt.Sprintf("{%q,", row))
	}
	folder, function, ok := strings.Cut(name, ".Test")
	if !ok {
		return fmt.Errorf("%q is neither a story, a fault nor FOLDER.TestName", name)
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if contains(file, "func Test"+function+"(") == nil {
			return nil
		}
	}
	return fmt.Errorf("no test Test%s in %s", function, folder)
}

func contains(file, text string) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !strings.Contains(string(source), text) {
		return fmt.Errorf("%s does not hold %s", filepath.Base(file), text)
	}
	return nil
}
