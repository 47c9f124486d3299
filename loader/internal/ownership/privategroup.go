package ownership

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"
)

// privateGroup reports whether a group holds nobody but the owner of a file, so
// that a file which the group may write is the owner's alone: many systems give
// each user a group of the same name, and files are group-writable there.
func privateGroup(uid, gid int) bool {
	if uid == 0 && gid == 0 && egid == 0 {
		return true // also in a container without a list of users
	}
	return readAccounts().onlyMember(uid, gid)
}

// accounts are the users and groups of this machine's files. Users that only a
// directory service knows are not in them: a group with such a member may look
// private only if it has the user's own name.
type accounts struct {
	names   map[int]string   // user → name
	primary map[int][]int    // group → users whose own group it is
	groups  map[int]string   // group → name
	members map[int][]string // group → further members, by name
}

var readAccounts = sync.OnceValue(func() *accounts {
	a := &accounts{names: map[int]string{}, primary: map[int][]int{}, groups: map[int]string{}, members: map[int][]string{}}
	eachLine("/etc/passwd", func(fields []string) {
		uid, errUser := strconv.Atoi(fields[2])
		gid, errGroup := strconv.Atoi(fields[3])
		if errUser == nil && errGroup == nil {
			a.names[uid] = fields[0]
			a.primary[gid] = append(a.primary[gid], uid)
		}
	})
	eachLine("/etc/group", func(fields []string) {
		gid, err := strconv.Atoi(fields[2])
		if err != nil {
			return
		}
		a.groups[gid] = fields[0]
		for _, name := range strings.Split(fields[3], ",") {
			if name != "" {
				a.members[gid] = append(a.members[gid], name)
			}
		}
	})
	return a
})

// eachLine reads a file of lines such as /etc/passwd.
func eachLine(path string, line func(fields []string)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Split(lines.Text(), ":"); len(fields) >= 4 {
			line(fields)
		}
	}
}

// onlyMember reports whether a group is the user's own: it has the user's name
// or the user is its only member, and nobody else is in it.
func (a *accounts) onlyMember(uid, gid int) bool {
	name, known := a.names[uid]
	group, listed := a.groups[gid]
	if !known || !listed {
		return false
	}
	for _, other := range a.primary[gid] {
		if other != uid {
			return false
		}
	}
	in := false
	for _, member := range a.members[gid] {
		if member != name {
			return false
		}
		in = true
	}
	for _, own := range a.primary[gid] {
		in = in || own == uid
	}
	return in || group == name
}
