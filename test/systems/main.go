// Command systems checks the types of all packages and their tests as another
// operating system builds them. It reads the source of everything they import
// instead of compiling it: a go vet per system would compile each library once
// more, which takes minutes where nothing is cached.
//
//	go run ./test/systems darwin/arm64 windows/amd64
//
// It exits with 1 if something does not build there, with file, line and reason.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	wrong := 0
	for _, system := range os.Args[1:] {
		found, err := check(".", system)
		if err != nil {
			fmt.Fprintln(os.Stderr, "systems:", err)
			os.Exit(1)
		}
		for _, message := range found {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, message)
		}
		wrong += len(found)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

// check returns what does not build on a system, which is named as GOOS/GOARCH, of
// the module in a folder.
func check(folder, system string) (wrong []string, err error) {
	goos, goarch, whole := strings.Cut(system, "/")
	if !whole {
		return nil, fmt.Errorf("%q is not a system; write GOOS/GOARCH, as in darwin/arm64", system)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Dir:   folder,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
	}, "./...")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			if text := e.Error(); !seen[text] { // a package stands there once more with its tests
				seen[text] = true
				wrong = append(wrong, text)
			}
		}
	})
	return wrong, nil
}
