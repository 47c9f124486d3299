package text

// Shorten returns the text, cut to about so many bytes at the beginning of a
// character, with … in the place of the rest.
func Shorten(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	for i := range text {
		if i > longest {
			return text[:i] + "…"
		}
	}
	return text
}
