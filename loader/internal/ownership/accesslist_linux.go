package ownership

import (
	"encoding/binary"
	"errors"
	"syscall"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"golang.org/x/sys/unix"
)

// Entries of an access list, as the kernel writes them (linux/posix_acl_xattr.h).
const (
	aclHead, aclEntry = 4, 8
	AclUser           = 0x02
	AclOwningGroup    = 0x04
	AclGroup          = 0x08
	AclMask           = 0x10
	aclMayWrite       = 2
)

// groupMayWrite reports whether somebody else may write a file whose mode says that
// its group may. With an access list that bit only says that somebody in it may: the
// list may name other users and groups.
func groupMayWrite(path string, st files.Info) bool {
	list := make([]byte, 4<<10)
	n, err := unix.Lgetxattr(path, "system.posix_acl_access", list)
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, syscall.ENOTSUP), errors.Is(err, unix.ENOSYS):
		return !privateGroup(st.UID, st.GID)
	case err != nil || n < aclHead:
		return true
	}
	mask := uint16(aclMayWrite)
	eachACLEntry(list[aclHead:n], func(tag, may uint16, _ int) {
		if tag == AclMask {
			mask = may
		}
	})
	others := false
	eachACLEntry(list[aclHead:n], func(tag, may uint16, id int) {
		switch {
		case may&mask&aclMayWrite == 0:
		case tag == AclUser:
			others = others || id != st.UID && id != 0
		case tag == AclOwningGroup:
			others = others || !privateGroup(st.UID, st.GID)
		case tag == AclGroup:
			others = others || !privateGroup(st.UID, id)
		}
	})
	return others
}

func eachACLEntry(list []byte, entry func(tag, may uint16, id int)) {
	for ; len(list) >= aclEntry; list = list[aclEntry:] {
		entry(binary.LittleEndian.Uint16(list), binary.LittleEndian.Uint16(list[2:]), int(binary.LittleEndian.Uint32(list[4:])))
	}
}
