package selfprotect

import (
	"strings"
	"testing"
)

func TestWhatHasStarStandForDotFilesIsSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"shopt -s dotglob; rm *": true, "shopt -s DotGlob": true, "setopt dot_glob": true, "setopt GLOB_DOTS && rm *": true, "setopt globdots": true,
		"GLOBIGNORE=.git rm *": true, "globignore=x": true, strings.Repeat("x", 5000) + " dotglob": true, "\xff DOTGLOB": true,
		"ls": false, "": false, "echo global": false, "cat globignore": false, "echo xdotglob": false, strings.Repeat("x", 5000): false,
	} {
		if setsDotglob(text) != want {
			t.Errorf("%.40q: %v", text, !want)
		}
		if dotglobs().MatchString(text) != want {
			t.Errorf("%.40q: the expression by itself says %v", text, !want)
		}
	}
}
