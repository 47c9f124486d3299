package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// maxIntact bounds the files that intact reads at once, in bytes; longer ones
// are left to verify.
const maxIntact = 256 << 10

// intact is verify with as few system calls as can be, for the usual copy: a few
// short files in one folder. A load waits for this once per hook. False says no
// more than that verify must tell.
func (s store) intact(b *bundle) bool {
	folder := s.folder(b.hash)
	if s.copies.same(folder, b) {
		return true
	}
	dir, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(dir)
	seen := seenCopy{folders: map[string]fileStat{}, files: make([]fileStat, len(b.Members)), at: time.Now()}
	top, err := fstatAt(dir)
	if err != nil || userWalk().part(folder, top) != "" || !onlyMembers(dir, b) {
		return false
	}
	seen.folders["."] = top
	for i, m := range b.Members {
		if seen.files[i], err = hashedAt(dir, m); err != nil {
			return false
		}
	}
	s.copies.note(b.hash, seen)
	return true
}

func fstatAt(fd int) (fileStat, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return fromStat(&st), err
}

// onlyMembers reports whether a folder holds the files of a bundle and no other.
func onlyMembers(dir int, b *bundle) bool {
	var buffer [4 << 10]byte
	found := make([]string, 0, 8)
	for {
		n, err := unix.ReadDirent(dir, buffer[:])
		if err != nil {
			return false
		}
		if n == 0 {
			break
		}
		_, _, found = unix.ParseDirent(buffer[:n], -1, found)
	}
	if len(found) != len(b.Members) {
		return false
	}
	for _, m := range b.Members { // a name with a slash is never among them
		if !slices.Contains(found, m.Name) {
			return false
		}
	}
	return true
}

// hashedAt returns the stat of a member's copy if its bytes are those allowed.
func hashedAt(dir int, m member) (fileStat, error) {
	fd, err := unix.Openat(dir, m.Name, openFlags|noFollow, 0)
	if err != nil {
		return fileStat{}, err
	}
	defer unix.Close(fd)
	st, err := fstatAt(fd)
	switch {
	case err != nil:
		return st, err
	case !st.Mode.IsRegular() || st.Mode.Perm() != m.Mode || st.Size > maxIntact || userWalk().part(m.Name, st) != "":
		return st, ErrChangedSince
	}
	text := make([]byte, st.Size)
	for read := 0; read < len(text); {
		n, err := unix.Read(fd, text[read:])
		if err != nil || n == 0 {
			return st, ErrChangedSince
		}
		read += n
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != m.Sum {
		return st, ErrChangedSince
	}
	return st, nil
}
