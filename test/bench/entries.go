//go:build unix

package main

// entries are all contests, in the order in which they are held and shown.
func (b *bench) entries() []entry {
	var list []entry
	for _, more := range [][]entry{
		b.plainEntries(), b.modesEntries(), b.manyEntries(), b.containEntries(), b.heapEntries(), b.matchEntries(), b.loadEntries(), b.startEntries(), b.memoryEntries(),
	} {
		list = append(list, more...)
	}
	return list
}
