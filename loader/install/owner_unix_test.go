//go:build unix

package install

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

func ownerOf(t *testing.T, path string) string {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Uid, stat.Gid)
}
