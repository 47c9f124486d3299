package process

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// table is memory that hookd and its guardian share: what runs, in slots. hookd writes
// it without a system call and without waking the guardian, which reads it when hookd
// is dead or kept stopped. A slot is never changed while it counts, so that hookd may
// be killed at any moment.
type sharedTable struct {
	file   *os.File
	memory []byte
}

const (
	tableSlots = 8192 // more than twice the programs of a Runtime; memory that is not used is not taken
	slotSize   = 512
	tableSize  = (1 + tableSlots) * slotSize // the first one holds used and watched
)

func newSharedTable() (*sharedTable, error) {
	fd, err := unix.MemfdCreate(guardianName, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), guardianName)
	if err := file.Truncate(tableSize); err != nil {
		file.Close()
		return nil, err
	}
	return openSharedTable(file)
}

func openSharedTable(file *os.File) (*sharedTable, error) {
	memory, err := syscall.Mmap(int(file.Fd()), 0, tableSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		file.Close()
		return nil, os.NewSyscallError("mmap", err)
	}
	return &sharedTable{file: file, memory: memory}, nil
}

func (b *sharedTable) close() {
	syscall.Munmap(b.memory)
	b.file.Close()
}

func (b *sharedTable) word(at int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&b.memory[at]))
}

// used is how many slots may hold something.
func (b *sharedTable) used() *atomic.Uint32 { return b.word(0) }

// watched is 1 while the guardian looks at hookd now and then.
func (b *sharedTable) watched() *atomic.Uint32 { return b.word(4) }

// length is how many bytes of text a slot holds, 0 for none. It is set last and
// cleared first.
func (b *sharedTable) length(slot int) *atomic.Uint32 { return b.word((1 + slot) * slotSize) }

func (b *sharedTable) text(slot int) []byte {
	at := (1 + slot) * slotSize
	return b.memory[at+4 : at+slotSize]
}

// put writes a text into a free slot.
func (b *sharedTable) put(slot int, text string) {
	n := copy(b.text(slot), text)
	if used := b.used(); used.Load() <= uint32(slot) {
		used.Store(uint32(slot) + 1)
	}
	b.length(slot).Store(uint32(n))
}

func (b *sharedTable) clear(slot int) { b.length(slot).Store(0) }

// read returns what runs, and the folder of the control group that holds all programs,
// "" without one.
func (b *sharedTable) read() (trees []*tree, cgroup string) {
	for slot := range int(min(b.used().Load(), tableSlots)) {
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
