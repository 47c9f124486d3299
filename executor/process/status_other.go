//go:build !unix

package process

import "os"

// exitStatus returns a waited-for program's exit code; there are no signals.
func exitStatus(s *os.ProcessState) (int, string) {
	if s == nil {
		return -1, ""
	}
	return s.ExitCode(), ""
}
