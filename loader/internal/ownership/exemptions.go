package ownership

import (
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
)

// A Exemption is a folder for which a setting of the user or the machine lifts
// checks of owner and mode, for everything below it too.
type Exemption struct {
	path       string // real path
	owners     []int
	groupWrite bool
}

// Exemptions turns the settings hooks.trust.folders into what the checks go
// by. A folder that is not there lifts nothing.
func Exemptions(settings []schema.TrustedFolder, home string) (lifted []Exemption, findings []schema.Finding) {
	for _, s := range settings {
		real, err := filepath.EvalSymlinks(files.ExpandHome(s.Path, home))
		if err != nil {
			findings = append(findings, report.Newf(report.ChecksNotLifted, s.Path, "", "name a folder that is there, or remove the entry", "hooks.trust.folders names %s, which cannot be found: %s", s.Path, files.Cause(err)))
			continue
		}
		l := Exemption{path: real, groupWrite: s.GroupWrite}
		for _, owner := range s.Owners {
			uid, ok := userID(owner)
			if !ok {
				findings = append(findings, report.Newf(report.ChecksNotLifted, s.Path, "", "write the user's number", "hooks.trust.folders names the user %s, whom this machine does not know", owner))
				continue
			}
			l.owners = append(l.owners, uid)
		}
		lifted = append(lifted, l)
		findings = append(findings, report.Newf(report.ChecksLifted, real, "", "remove its entry from hooks.trust.folders to check it as any other", "%s", l.says()))
	}
	return lifted, findings
}

// says returns in words what is not checked.
func (l *Exemption) says() string {
	text := "hooks.trust.folders: "
	if len(l.owners) > 0 {
		text += "files here may belong to"
		for i, uid := range l.owners {
			if i > 0 {
				text += ","
			}
			text += " user " + strconv.Itoa(uid)
		}
	}
	if l.groupWrite {
		if len(l.owners) > 0 {
			text += " and "
		}
		text += "files here may be writable by their group"
	}
	return text
}

// userID is the number of a user who is named or numbered.
func userID(owner string) (int, bool) {
	if uid, err := strconv.Atoi(owner); err == nil {
		return uid, uid >= 0
	}
	account, err := user.Lookup(owner)
	if err != nil {
		return 0, false
	}
	uid, err := strconv.Atoi(account.Uid)
	return uid, err == nil
}
