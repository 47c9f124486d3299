package proxied

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Parts of an address: its scheme, what it says of its host, its path, and the rest.
var (
	addressParts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):([^?#]*)((?s).*)$`) })
	escapes      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[0-9A-Fa-f]{2}`) })
)

// ofTheWeb are the schemes whose addresses programs read as browsers do, with the ports that go
// without saying.
var ofTheWeb = map[string]string{"file": "", "ftp": ":21", "http": ":80", "https": ":443", "ws": ":80", "wss": ":443"}

// UsualAddress returns an address as it is usually written: many programs read another spelling of it
// as the same (RFC 3986, 6.2.2; WHATWG URL). What a path's escapes of other characters than letters,
// digits and -._~ mean is for a server to say, and they stay.
func UsualAddress(uri string) string {
	uri = strings.TrimFunc(uri, func(r rune) bool { return r <= ' ' })
	uri = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(uri)
	parts := addressParts().FindStringSubmatch(escapes().ReplaceAllStringFunc(uri, usualEscape))
	if parts == nil {
		return uri
	}
	scheme, path, rest := strings.ToLower(parts[1]), parts[2], parts[3]
	port, web := ofTheWeb[scheme]
	if web {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	host := ""
	switch named := strings.HasPrefix(path, "//"); {
	case web && scheme != "file":
		host, path = cutHost(strings.TrimLeft(path, "/"))
		host = strings.TrimSuffix("//"+strings.ToLower(host), port)
	case web:
		if named && !strings.HasPrefix(path, "///") {
			host, path = cutHost(path[2:])
		}
		host = "//" + strings.TrimPrefix(strings.ToLower(host), "localhost")
		path = "/" + strings.Join(slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" }), "/") + endOf(path)
	case named:
		host, path = cutHost(path[2:])
		host = "//" + host
	}
	return scheme + ":" + host + withoutDots(path) + rest
}

// usualEscape returns an escape, or the character that it stands for where it need not be escaped.
func usualEscape(escape string) string {
	const digits = "0123456789abcdef"
	lower := strings.ToLower(escape)
	c := byte(strings.IndexByte(digits, lower[1])<<4 | strings.IndexByte(digits, lower[2]))
	if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
		return string(rune(c))
	}
	return escape
}

func cutHost(path string) (host, rest string) {
	if at := strings.IndexByte(path, '/'); at >= 0 {
		return path[:at], path[at:]
	}
	return path, ""
}

// endOf is the slash that a path ends with, if it is not all of it.
func endOf(path string) string {
	if strings.HasSuffix(path, "/") && strings.Trim(path, "/") != "" {
		return "/"
	}
	return ""
}

// withoutDots returns a path that begins with a slash without its segments . and .. .
func withoutDots(path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	var kept []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case "..":
			kept = kept[:max(0, len(kept)-1)]
		case ".":
		default:
			kept = append(kept, s)
			continue
		}
		if last { // what they lead to is a folder
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}
