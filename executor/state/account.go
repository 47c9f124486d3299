package state

import (
	"bufio"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
)

// Account is what the user database says of this process's user. Where Go reads that
// database without the system's library, its own look-up takes HOME and USER for an
// entry that is not there: what a caller chose, a folder of a clone perhaps. Then
// there is no account.
func Account() (*user.User, error) {
	if runtime.GOOS == "windows" {
		return user.Current()
	}
	uid := strconv.Itoa(os.Getuid())
	account, err := user.LookupId(uid)
	if err == nil && believesEnvironment && !listed("/etc/passwd", uid) {
		return nil, user.UnknownUserIdError(os.Getuid())
	}
	return account, err
}

// listed reports whether a list of users has one with the number.
func listed(file, uid string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Split(lines.Text(), ":"); len(fields) > 2 && fields[2] == uid {
			return true
		}
	}
	return false
}
