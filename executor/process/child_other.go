//go:build !unix

package process

import "os"

// Without non-blocking pipes everything is written behind, nothing is overheard,
// and what a program has read is not known.

func writeNow(_ *os.File, pieces [][]byte) [][]byte { return pieces }

func readNow(*os.File, []byte) int { return 0 }

func waiting(*os.File) int { return -1 }
