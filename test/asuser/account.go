//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// An account is a user without rights and the folder in which all that is the
// user's lies.
type account struct {
	name       string
	credential *syscall.Credential
	box        string
	orphans    *orphans
}

func newAccount(name string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("only root can run tests as another user")
	}
	found, err := osuser.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	if uid == 0 {
		return nil, fmt.Errorf("%s is root", name)
	}
	box, err := os.MkdirTemp("", "hookd-asuser-")
	if err != nil {
		return nil, err
	}
	u := &account{name: name, box: box, credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return u, os.Chmod(box, 0o755)
}

func (u *account) tree() string { return filepath.Join(u.box, "tree") }

// prepare copies the tree, gives the user the caches of the go command, so that
// little is built twice, and builds the tests.
func (u *account) prepare(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	where := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(where) != 3 {
		return fmt.Errorf("go env: %q", out)
	}
	for _, p := range packages {
		if err := u.build(ctx, p); err != nil {
			return err
		}
	}
	for _, folder := range []string{"home", "tmp"} {
		if err := u.mkdir(filepath.Join(u.box, folder)); err != nil {
			return err
		}
	}
	return errors.Join(
		u.give(ctx, filepath.Dir(where[0]), u.tree(), copyFile),
		u.give(ctx, where[1], filepath.Join(u.box, "cache"), os.Link),
		u.give(ctx, where[2], filepath.Join(u.box, "modules"), os.Link),
	)
}

// environment is that of the user's tests: nothing of root's but the path.
func (u *account) environment() []string {
	home := filepath.Join(u.box, "home")
	return []string{
		"HOME=" + home, "USER=" + u.name, "LOGNAME=" + u.name, "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + filepath.Join(u.box, "tmp"), "GOCACHE=" + filepath.Join(u.box, "cache"),
		"GOMODCACHE=" + filepath.Join(u.box, "modules"), "GOPATH=" + filepath.Join(home, "go"),
		"GOFLAGS=" + strings.TrimSpace("-buildvcs=false "+os.Getenv("GOFLAGS")),
		"GOPROXY=off", "GOTOOLCHAIN=local",
	}
}

func (u *account) mkdir(path string) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	return os.Chown(path, int(u.credential.Uid), int(u.credential.Gid))
}

// give puts a folder's files into a new one of the user's: copies, or links to
// files that the user can read and not change. A file that cannot be linked, as
// one on another file system, is left out: the go command makes it again.
func (u *account) give(ctx context.Context, from, to string, put func(from, to string) error) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case name == ".git" || name == "bin":
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir():
			return u.mkdir(target)
		case !entry.Type().IsRegular():
			return nil
		}
		if err := put(path, target); errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EPERM) || errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		return nil
	})
}

// copyFile copies a file with its mode. The copy is root's, as a file of another
// package manager's is; folders are the user's.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// remove ends what the user's tests have left running, which is a failure, and
// removes the folder.
func (u *account) remove() error {
	var left []string
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		left = nil
		for _, pid := range u.alive() {
			command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			left = append(left, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
			if time.Now().After(deadline) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	if u.orphans != nil {
		u.orphans.end()
	}
	err := os.RemoveAll(u.box)
	if len(left) > 0 {
		return errors.Join(err, fmt.Errorf("still alive after the tests: %s", strings.Join(left, "; ")))
	}
	return err
}

// alive are the processes that have to do with the box: by program, folder, or
// environment. A name alone does not tell: other services run as the same user.
func (u *account) alive() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// By thread: the first one of a process may be dead and tell nothing.
		threads, _ := filepath.Glob(filepath.Join("/proc", entry.Name(), "task", "*"))
		if slices.ContainsFunc(threads, u.owns) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns reports whether a thread, by its folder in /proc, has to do with the box.
func (u *account) owns(thread string) bool {
	program, _ := os.Readlink(filepath.Join(thread, "exe"))
	at, _ := os.Readlink(filepath.Join(thread, "cwd"))
	environment, _ := os.ReadFile(filepath.Join(thread, "environ"))
	inside := u.box + "/"
	return strings.HasPrefix(program, inside) || strings.HasPrefix(at, inside) || bytes.Contains(environment, []byte(inside))
}
