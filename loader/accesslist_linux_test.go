package loader

import (
	"encoding/binary"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/ownership"
)

// Who may write by an access list is not told by the mode.
func TestAccessLists(t *testing.T) {
	const other = 54322
	none := ^uint32(0)
	me := uint32(os.Geteuid())
	type entry struct {
		tag, may uint16
		id       uint32
	}
	list := func(entries ...entry) []byte {
		raw := binary.LittleEndian.AppendUint32(nil, 2)
		for _, e := range entries {
			raw = binary.LittleEndian.AppendUint16(raw, e.tag)
			raw = binary.LittleEndian.AppendUint16(raw, e.may)
			raw = binary.LittleEndian.AppendUint32(raw, e.id)
		}
		return raw
	}
	for _, test := range []struct {
		name   string
		list   []byte
		unsafe bool
	}{
		{"another user", list(entry{1, 6, none}, entry{ownership.AclUser, 6, other}, entry{ownership.AclOwningGroup, 4, none}, entry{ownership.AclMask, 6, none}, entry{32, 4, none}), true},
		{"another user who only reads", list(entry{1, 6, none}, entry{ownership.AclUser, 4, other}, entry{ownership.AclOwningGroup, 4, none}, entry{ownership.AclMask, 6, none}, entry{32, 4, none}), false},
		{"another group", list(entry{1, 6, none}, entry{ownership.AclOwningGroup, 4, none}, entry{ownership.AclGroup, 6, other}, entry{ownership.AclMask, 6, none}, entry{32, 4, none}), true},
		{"what the mask takes away", list(entry{1, 6, none}, entry{ownership.AclUser, 6, other}, entry{ownership.AclOwningGroup, 4, none}, entry{ownership.AclMask, 4, none}, entry{32, 4, none}), false},
		{"the user", list(entry{1, 6, none}, entry{ownership.AclUser, 6, me}, entry{ownership.AclOwningGroup, 4, none}, entry{ownership.AclMask, 6, none}, entry{32, 4, none}), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.hook("a.sh", blocks)
			w.settings(`{"agent":{"limits":{"steps":5}}}`)
			w.allow()
			if err := unix.Setxattr(w.path(".acai", "acai.json"), "system.posix_acl_access", test.list, 0); err != nil {
				t.Skip("no access lists here:", err)
			}
			w.settingsUnchanged(t)
			item := planItem(w.plan(), candidate.SettingsRecord)
			if (item.Problem != nil) != test.unsafe {
				t.Errorf("problem %v", item.Problem)
			}
		})
	}
}

// settingsUnchanged makes sure that a test changed who may write and nothing else.
func (w *world) settingsUnchanged(t *testing.T) {
	t.Helper()
	if st, err := files.Lstat(w.path(".acai", "acai.json")); err != nil || st.Mode&0o002 != 0 || st.UID != os.Geteuid() {
		t.Fatalf("%v %v", st, err)
	}
}
