package jsonspan

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// Plain returns valid JSON with each of its strings in plain form: what can stand
// in a string as it is does, what cannot has its shortest escape, and half a
// surrogate pair, which is no character, keeps the escape it has. A hook that
// searches an event as text so finds "git push" however the model spelled it.
// Everything else keeps its bytes, and a value without a needless escape is
// returned as it is.
func Plain(v json.RawMessage) json.RawMessage {
	i := firstNeedless(v)
	if i < 0 {
		return v
	}
	plain := append(make(json.RawMessage, 0, len(v)), v[:i]...)
	for i < len(v) {
		r, n := needless(v[i:])
		plain = appendInString(plain, r)
		i += n
		next := len(v)
		if n = firstNeedless(v[i:]); n >= 0 {
			next = i + n
		}
		plain = append(plain, v[i:next]...)
		i = next
	}
	return plain
}

// firstNeedless returns the offset of the first escape that has a plainer form, -1
// if there is none. In valid JSON a backslash begins an escape.
func firstNeedless(v []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(v[i:], '\\')
		if n < 0 || i+n+1 >= len(v) {
			return -1
		}
		i += n
		r, n := needless(v[i:])
		if r >= 0 {
			return i
		}
		i += n
	}
}

// needless returns the character that the escape at the beginning of v stands for,
// below 0 if the escape has no plainer form, and how many bytes of v it takes.
func needless(v []byte) (r rune, n int) {
	const short = 6 // bytes of an escape with four digits
	if v[1] == '/' {
		return '/', 2
	}
	r, ok := hex4(v, 0)
	if !ok {
		return -1, 2
	}
	n = short
	if utf16.IsSurrogate(r) {
		second, _ := hex4(v, short)
		if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
			return -1, short
		}
		n = 2 * short
	}
	if r < ' ' && shortEscape(r) == 0 {
		return -1, n
	}
	return r, n
}

// appendInString appends a character as it stands in a JSON string.
func appendInString(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r < ' ':
		return append(dst, '\\', shortEscape(r))
	}
	return utf8.AppendRune(dst, r)
}

// shortEscape is the letter by which a control character is escaped, 0 if it has
// none.
func shortEscape(r rune) byte {
	switch r {
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	}
	return 0
}

// ReplaceLoneSurrogates replaces each \uD800 to \uDFFF escape that is not half
// of a pair by \ufffd. Without one it returns b itself, else a copy.
func ReplaceLoneSurrogates(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\ud`)) && !bytes.Contains(b, []byte(`\uD`)) {
		return b
	}
	copied := false
	for i := 0; i < len(b)-1; {
		if b[i] != '\\' {
			i++
			continue
		}
		high, ok := surrogate(b, i)
		if !ok {
			i += 2
			continue
		}
		if low, ok := surrogate(b, i+6); high < 0xDC00 && ok && low >= 0xDC00 {
			i += 12
			continue
		}
		if !copied {
			b, copied = bytes.Clone(b), true
		}
		copy(b[i:], `\ufffd`)
		i += 6
	}
	return b
}

// surrogate reads the escape at b[i] if it is one of a surrogate.
func surrogate(b []byte, i int) (rune, bool) {
	r, ok := hex4(b, i)
	return r, ok && r >= 0xD800 && r <= 0xDFFF
}

// hex4 reads the escape at b[i] if it is one of four hexadecimal digits.
func hex4(b []byte, i int) (r rune, ok bool) {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return 0, false
	}
	for _, c := range b[i+2 : i+6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
