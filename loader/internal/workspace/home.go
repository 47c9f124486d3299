package workspace

import (
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
)

// UserHome is the folder of the user layer: $HOME, unless that may be somebody
// else's doing, else what the user database says; "" if neither is there. A HOME
// that lies in a checkout or a project would make its .acai the user's.
func UserHome() (home string, refused *IgnoredFolder) {
	named := os.Getenv("HOME")
	if !filepath.IsAbs(named) {
		return DatabaseHome(), nil
	}
	why := suspiciousHome(named)
	if why == "" {
		return named, nil
	}
	listed := DatabaseHome()
	if listed != "" && sameFolder(listed, named) {
		return named, nil
	}
	passed := &IgnoredFolder{Folder: named, Why: "HOME is not obeyed: " + why, Remedy: "set HOME to your own home folder"}
	if _, err := files.Lstat(filepath.Join(named, FolderName)); listed == "" && !files.Missing(err) {
		passed.Why += ", and the user database names no other home"
		passed.Homeless = true
	}
	return listed, passed
}

func suspiciousHome(named string) string {
	real, err := filepath.EvalSymlinks(named)
	if err != nil {
		return withinOthers(filepath.Clean(named)) // what is not there yet may be there later
	}
	if st, err := files.Stat(real); err != nil || !ownership.User().MayOwn(real, st.UID) {
		return "it belongs to another user"
	}
	if isCheckout(real) {
		return "it is a checkout"
	}
	return withinOthers(real)
}

// withinOthers says in which checkout or project a folder lies, "" in none.
func withinOthers(folder string) string {
	for dir := files.RealPath(filepath.Dir(folder)); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if isCheckout(dir) {
			return "it lies in the checkout " + dir
		}
		if st, err := files.Stat(filepath.Join(dir, FolderName)); err == nil && st.Mode.IsDir() {
			return "it lies in the project " + dir
		}
	}
	return ""
}

// OtherHome returns the home whose user layer counts, and that of the account, where these are two
// and the account's holds a user layer, which does not count then; else "".
func OtherHome() (counts, account string) {
	home, refused := UserHome()
	if refused != nil {
		return "", "" // the account's counts
	}
	return OtherThan(home, DatabaseHome())
}

// OtherThan is [OtherHome] for a home and one that the user database lists.
func OtherThan(home, listed string) (counts, account string) {
	if home == "" || listed == "" || home == listed || sameFolder(home, listed) {
		return "", ""
	}
	if _, err := files.Lstat(filepath.Join(listed, FolderName)); err != nil {
		return "", ""
	}
	return home, listed
}

func sameFolder(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, other)
}

// DatabaseHome is the user's home as the user database has it, "" if it does not.
func DatabaseHome() string {
	if u, err := hookenv.Account(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}
