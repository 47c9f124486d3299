package executor

import "os"

// fileMark tells whether a program's file is still the one that was started: the
// loader notices a change in a moment, and an event that comes before must not
// meet the older content.
type fileMark struct{ info os.FileInfo }

func markOf(path string) fileMark {
	info, err := os.Stat(path)
	if err != nil {
		return fileMark{}
	}
	return fileMark{info}
}

func (m fileMark) current(path string) bool {
	info, err := os.Stat(path)
	return err == nil && m.info != nil && os.SameFile(info, m.info) && info.Size() == m.info.Size() && info.ModTime().Equal(m.info.ModTime())
}
