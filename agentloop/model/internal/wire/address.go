package wire

import (
	"errors"
	"net"
	"net/url"
	"strings"
)

// Address is the path below a base URL.
func Address(base, path string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, errors.New("it is not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("it must begin with http:// or https:// and a host")
	case u.User != nil:
		return nil, errors.New("it holds a user name or a password; agent.headers is the place for what authorises")
	case u.Fragment != "":
		return nil, errors.New("it holds a #fragment")
	}
	return u.JoinPath(path), nil
}

// MayCarryKey reports whether a key may be sent to an address: over TLS, or to
// this machine. Over plain http anyone on the way would read it, and most
// servers of a local network want none.
func MayCarryKey(u *url.URL) bool {
	host := u.Hostname()
	ip := net.ParseIP(host)
	return u.Scheme == "https" || host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
