package process

// record lets a guardian find more than the group: it can take its time.
func (g *groupContainer) record() guardRecord {
	return guardRecord{root: g.id, start: startTime(g.id), envTag: g.envTag}
}
