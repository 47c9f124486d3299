//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

// machine is what was measured on. It names no host and no path.
type machine struct {
	cpu         string
	cores       int
	memory      string
	system      string // with its kernel's version
	goVersion   string
	containment string
}

func thisMachine(b *bench) *machine {
	m := &machine{cpu: runtime.GOARCH, cores: runtime.NumCPU(), memory: "unknown", system: runtime.GOOS, goVersion: runtime.Version()}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if found := regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`).FindSubmatch(text); found != nil {
			m.cpu = string(found[1])
		}
	}
	if total, err := kilobytes("/proc/meminfo", "MemTotal:"); err == nil {
		m.memory = fmt.Sprintf("%.1f GB", total/1e9)
	}
	if text, err := exec.Command("uname", "-sr").Output(); err == nil {
		// What a builder of the kernel put behind its version says nothing here.
		m.system, _, _ = strings.Cut(strings.TrimSpace(string(text)), "-")
	}
	m.containment = string(b.contained.Containment().Kind)
	return m
}
