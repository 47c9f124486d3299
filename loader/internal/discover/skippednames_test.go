package discover

import "testing"

func TestSkipped(t *testing.T) {
	tests := map[string]bool{
		"a.sh": false, "guard": false, "10-a": false, "a b.sh": false, "été": false, "x.py": false, "9": true,
		"a.sh~": true, ".a.sh.swp": true, "#a.sh#": true, "a.sh.bak": true, "4913": true, ".DS_Store": true,
		"README.md": true, "_shared.sh": true, "a.orig": true, "a.rej": true, "a.swx": true, "a.tmp": true,
		"a.part": true, "a.disable": true, "a.txt": true, "a.sh.hook.json": true, "a.sh.hook.yaml": true, "acai.toml": true,
		"1a": false, "a.json5": false, "a.sh.test.yaml": true, "a.sh.test.json": true, "a.sh.test.yml": true, "a.yml": false,
	}
	for name, want := range tests {
		if got := skipped(name); got != want {
			t.Errorf("skipped(%q) = %v, want %v", name, got, want)
		}
	}
}
