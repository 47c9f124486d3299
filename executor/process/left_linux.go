package process

import (
	"os"
	"slices"
)

// leftOf are the live ones among entries, without the program itself.
func leftOf(entries []entry, program int) (left Left) {
	for _, e := range entries {
		if !e.zombie && e.pid != program {
			left = append(left, cleanName(e.name))
		}
	}
	slices.Sort(left)
	return left
}

func (c *cgroupContainer) left() Left { return leftOf(c.inside(), c.program) }

// inside are the processes in the group.
func (c *cgroupContainer) inside() (found []entry) {
	if c.look(); !c.populated {
		return nil
	}
	for _, pid := range cgroupMembers(c.dir) {
		if e, ok := readEntry(pid); ok {
			found = append(found, e)
		}
	}
	return found
}

func (s *sweptContainer) left() Left { return leftOf(s.outliving(), s.tree.root) }

// outliving are the processes of the tree. The program is dead, so the top of each
// branch is our child: most programs leave none, which is seen without a sweep.
func (s *sweptContainer) outliving() []entry {
	orphans, err := ourChildren.orphans()
	if s.alone = err == nil && !slices.ContainsFunc(orphans, s.startedAfterRoot); s.alone {
		return nil
	}
	if err == nil && !slices.ContainsFunc(orphans, func(e entry) bool { return s.startedAfterRoot(e) && !e.zombie }) {
		return nil
	}
	table, _ := processTable()
	members, _ := s.tree.members(table, os.Getpid())
	return members
}

func (h *sweptCgroup) left() Left {
	found := h.inside()
	for _, e := range h.swept.outliving() {
		if !slices.ContainsFunc(found, func(other entry) bool { return other.pid == e.pid }) {
			found = append(found, e)
		}
	}
	return leftOf(found, h.program)
}

func (g *groupContainer) left() Left {
	table, _ := processTable()
	return leftOf(slices.DeleteFunc(table, func(e entry) bool { return e.group != g.id }), g.id)
}
