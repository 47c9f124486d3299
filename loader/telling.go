package loader

import "bytes"

// telling keeps of a file's first bytes what says anything: the first line, which
// names the interpreter, and the lines of a header, each at its place. The rest
// is left out, so that what is remembered of a hook is as short as its
// description, however long the hook.
func telling(head []byte) []byte {
	for _, magic := range binaryMagic {
		if bytes.HasPrefix(head, magic) {
			return bytes.Clone(magic)
		}
	}
	var kept []byte
	end := 0 // behind the last line that says something
	for rest, first := head, true; len(rest) > 0; first = false {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		bare := line
		if first {
			bare = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if _, isHeader := headerText(bare); first || isHeader {
			kept = append(kept, line...)
			end = len(kept)
			if ended {
				end++
			}
		}
		if ended {
			kept = append(kept, '\n')
		}
		rest = after
	}
	return bytes.Clone(kept[:end])
}
