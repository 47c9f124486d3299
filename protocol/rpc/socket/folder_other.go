//go:build !unix

package socket

func checkOwn(string) error { return errNoPeer }

func lockFolder(string) (func(), error) { return nil, errNoPeer }

func refused(error) bool { return false }
