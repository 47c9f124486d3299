package hookenv

import (
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// A user is who the user database says, never who the environment says.
func TestAccount(t *testing.T) {
	const list = "# x\nroot:x:0:0:root:/root:/bin/sh\nshort:x:7\nu:x:7:8:U,,,:/home/u:/bin/sh\n"
	if got := entryOf(strings.NewReader(list), "7"); got == nil || got.Username != "u" || got.HomeDir != "/home/u" || got.Gid != "8" {
		t.Errorf("%+v", got)
	}
	if got := entryOf(strings.NewReader(list), "9"); got != nil {
		t.Errorf("%+v", got)
	}
	t.Setenv("HOME", "/of/a/clone")
	t.Setenv("USER", "somebody")
	if account, err := Account(); err == nil && (account.HomeDir == "/of/a/clone" || account.Username == "somebody") {
		t.Errorf("%+v", account)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if got := askSystem("54329"); got != nil {
		t.Errorf("nobody is %+v", got)
	}
	uid := strconv.Itoa(os.Getuid())
	if listed, err := user.LookupId(uid); err == nil && listed.HomeDir != "/of/a/clone" {
		if got := askSystem(uid); got != nil && got.HomeDir != listed.HomeDir {
			t.Errorf("%+v, want %+v", got, listed)
		}
	}
}
