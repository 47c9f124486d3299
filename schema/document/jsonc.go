package document

// withoutComments blanks the comments of a JSON text, and commas before a closing
// bracket, as most agents allow them. Lines and offsets stay as they are, so that
// findings name the right line. A comment that does not end is left in, for the JSON
// reader to complain about.
func withoutComments(text []byte) []byte {
	out := append([]byte{}, text...)
	comma := -1 // offset of the last comma, if nothing but blanks and comments came after it
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			i = endOfString(out, i)
			comma = -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := endOfComment(out, i)
			if end < 0 {
				return out
			}
			for ; i < end; i++ {
				if out[i] != '\n' && out[i] != '\r' {
					out[i] = ' '
				}
			}
			i--
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return out
}

// endOfString returns the offset of the quote that ends a string, or the last offset.
func endOfString(text []byte, begin int) int {
	for i := begin + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"', '\n':
			return i
		}
	}
	return len(text) - 1
}

// endOfComment returns the offset after a comment, -1 if it does not end.
func endOfComment(text []byte, begin int) int {
	line := text[begin+1] == '/'
	for i := begin + 2; i < len(text); i++ {
		switch {
		case line && text[i] == '\n':
			return i
		case !line && text[i] == '/' && text[i-1] == '*' && i > begin+2:
			return i + 1
		}
	}
	if line {
		return len(text)
	}
	return -1
}
