package hookenv

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Account returns what the user database says of this process's user. Where Go reads
// that database without the system's library, its own look-up takes HOME and USER of
// the environment for an entry that is missing, which a caller chose. There Account
// reads the file, and asks the system's own program, which knows a directory service.
var Account = sync.OnceValues(func() (*user.User, error) {
	uid := strconv.Itoa(os.Getuid())
	if runtime.GOOS == "windows" {
		return user.Current()
	}
	if !believesEnvironment {
		return user.LookupId(uid)
	}
	if f, err := os.Open("/etc/passwd"); err == nil {
		defer f.Close()
		if account := entryOf(f, uid); account != nil {
			return account, nil
		}
	}
	if account := askSystem(uid); account != nil {
		return account, nil
	}
	return nil, user.UnknownUserIdError(os.Getuid())
})

// entryOf returns the entry of a user in lines such as those of /etc/passwd, nil if
// there is none.
func entryOf(list io.Reader, uid string) *user.User {
	for lines := bufio.NewScanner(list); lines.Scan(); {
		if f := strings.Split(lines.Text(), ":"); len(f) >= 7 && f[2] == uid {
			return &user.User{Uid: uid, Gid: f[3], Username: f[0], Name: f[4], HomeDir: f[5]}
		}
	}
	return nil
}

// systemLimit bounds how long a directory service may take.
const systemLimit = 3 * time.Second

// askSystem asks getent, which gets nothing of the caller's environment.
func askSystem(uid string) *user.User {
	for _, program := range []string{"/usr/bin/getent", "/bin/getent"} {
		if _, err := os.Stat(program); err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), systemLimit)
		defer cancel()
		c := exec.CommandContext(ctx, program, "passwd", uid)
		c.Env, c.Dir, c.WaitDelay = []string{"PATH=/usr/bin:/bin"}, "/", time.Second
		out, err := c.Output()
		if err != nil {
			return nil
		}
		return entryOf(bytes.NewReader(out), uid)
	}
	return nil
}
