//go:build unix

package picture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/creack/pty"
)

// Record runs commands one after the other, each in a terminal of so many columns, in an
// empty folder with an empty home, with hookd and the system's own programs on PATH, so that
// what else a machine has does not show. It returns the screen: each command after a prompt, and what it printed. A command may fail, as a refused
// event does; it must be a program that ends.
func Record(hookd string, columns int, commands []string) ([]Line, error) {
	box, err := os.MkdirTemp("", "picture")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(box)
	if box, err = filepath.EvalSymlinks(box); err != nil {
		return nil, err
	}
	home := filepath.Join(box, "home")
	work := filepath.Join(home, "demo")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	var screen []Line
	for i, command := range commands {
		c := exec.Command("/bin/sh", "-c", command)
		c.Dir = work
		c.Env = []string{
			"PATH=" + filepath.Dir(hookd) + ":/usr/bin:/bin", "HOME=" + home, "LANG=C.UTF-8",
			"XDG_STATE_HOME=" + filepath.Join(box, "state"), "TERM=xterm-256color",
		}
		printed, err := inTerminal(c, columns)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		printed = strings.ReplaceAll(printed, home, "~")
		if i > 0 {
			screen = append(screen, nil)
		}
		screen = append(screen, Screen("\x1b[1;32m$\x1b[0m "+command, columns)...)
		screen = append(screen, Screen(printed, columns)...)
	}
	return screen, nil
}

// inTerminal runs a command in a terminal and returns all that it printed there.
func inTerminal(c *exec.Cmd, columns int) (string, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return "", err
	}
	defer master.Close()
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 50, Cols: uint16(columns)}); err != nil {
		return "", err
	}
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		return "", err
	}
	slave.Close() // the program's end is the last one: reading ends with it
	var printed bytes.Buffer
	_, readErr := io.Copy(&printed, master)
	err = c.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return "", err
	}
	if readErr != nil && !errors.Is(readErr, syscall.EIO) { // EIO is how a terminal ends
		return "", readErr
	}
	return printed.String(), nil
}
