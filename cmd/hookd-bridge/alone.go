package main

import (
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// alone becomes hookd bridge, which loads the hooks itself. It gets the input, or with nil
// what stdin has, and the time that is left. start is the socket of a daemon that it
// should start, "" for none.
func (m *messenger) alone(input []byte, start string) {
	args := []string{"bridge", m.agent}
	if m.event != "" {
		args = append(args, m.event)
	}
	args = append(args, "--left="+time.Until(m.due).String())
	if start != "" {
		args = append(args, "--start="+start)
	}
	m.become(args, input)
}

// hookd returns the path of hookd: it lies in our own folder.
func hookd() (string, error) {
	own, err := os.Executable()
	if err != nil {
		own, err = startedAs() // without /proc
	}
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	if err != nil {
		return "", err
	}
	name := "hookd"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(own), name), nil
}

// become runs hookd in place of this program. If that is not possible the event is refused.
func (m *messenger) become(args []string, input []byte) {
	path, err := hookd()
	if err == nil && input != nil {
		err = putOnStdin(input)
	}
	if err == nil {
		replace(path, append([]string{path}, args...))
	}
	m.refuse(missing)
}
