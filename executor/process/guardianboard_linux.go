package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// board is memory that hookd and its guardian share: what runs, in slots. hookd writes
// it without a system call and without waking the guardian, which reads it when hookd
// is dead or kept stopped. A slot is never changed while it counts, so that hookd may
// be killed at any moment.
type board struct {
	file   *os.File
	memory []byte
}

const (
	mostSlots   = 8192 // more than twice the programs of a Runtime; memory that is not used is not taken
	fewestSlots = 2    // a text is written before the one that it replaces is cleared
	slotSize    = 512
)

func newBoard() (*board, error) {
	fd, err := unix.MemfdCreate(guardianName, unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3; later ones may refuse a file that could be executed
		fd, err = unix.MemfdCreate(guardianName, unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), guardianName)
	if err := file.Truncate(boardSize()); err != nil {
		file.Close()
		return nil, fmt.Errorf("make memory of %d bytes that it can read, which the limit of a file's size (ulimit -f) may forbid: %w", boardSize(), err)
	}
	return openBoard(file)
}

// boardSize is the size of a board in bytes: of the first slot, which holds used and
// watched, and of as many others as the limit of a file's size allows.
func boardSize() int64 {
	slots := uint64(mostSlots)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur/slotSize <= mostSlots {
		slots = max(limit.Cur/slotSize, 1+fewestSlots) - 1
	}
	return int64(1+slots) * slotSize
}

func openBoard(file *os.File) (*board, error) {
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	memory, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		file.Close()
		return nil, os.NewSyscallError("mmap", err)
	}
	return &board{file: file, memory: memory}, nil
}

func (b *board) close() {
	syscall.Munmap(b.memory)
	b.file.Close()
}

func (b *board) word(at int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&b.memory[at]))
}

// slots is how many slots the board has.
func (b *board) slots() int { return len(b.memory)/slotSize - 1 }

// used is how many slots may hold something.
func (b *board) used() *atomic.Uint32 { return b.word(0) }

// watched is 1 while the guardian looks at hookd now and then.
func (b *board) watched() *atomic.Uint32 { return b.word(4) }

// length is how many bytes of text a slot holds, 0 for none. It is set last and
// cleared first.
func (b *board) length(slot int) *atomic.Uint32 { return b.word((1 + slot) * slotSize) }

func (b *board) text(slot int) []byte {
	at := (1 + slot) * slotSize
	return b.memory[at+4 : at+slotSize]
}

// fitsBoard reports whether a slot can hold a text.
func fitsBoard(text string) bool { return len(text) <= slotSize-4 }

// put writes a text into a free slot.
func (b *board) put(slot int, text string) {
	n := copy(b.text(slot), text)
	if used := b.used(); used.Load() <= uint32(slot) {
		used.Store(uint32(slot) + 1)
	}
	b.length(slot).Store(uint32(n))
}

func (b *board) clear(slot int) { b.length(slot).Store(0) }

// read returns what runs, and the folder of the control group that holds all programs,
// "" without one.
func (b *board) read() (trees []*tree, cgroup string) {
	for slot := range min(int(b.used().Load()), b.slots()) {
		n := b.length(slot).Load()
		if n == 0 {
			continue
		}
		text := string(b.text(slot)[:min(n, slotSize-4)])
		if dir, is := strings.CutPrefix(text, guardCgroup); is {
			cgroup = dir
			continue
		}
		t := &tree{known: make(map[int]uint64)}
		fmt.Sscanf(text, "%d %d", &t.root, &t.start)
		if fields := strings.SplitN(text, " ", 3); len(fields) == 3 {
			t.envTag = fields[2]
		}
		trees = append(trees, t)
	}
	return trees, cgroup
}

// guardCgroup begins the text of the slot that names the control group.
const guardCgroup = "cgroup "

func (r guardRecord) text() string { return fmt.Sprintf("%d %d %s", r.root, r.start, r.envTag) }
