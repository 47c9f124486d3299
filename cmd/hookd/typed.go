package main

import "bufio"

// typed reads lines of the terminal. The reading goes on until the process
// ends: a read of a terminal cannot be taken back.
func (a *app) typed() <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(a.stdin); in.Scan(); {
			lines <- in.Text()
		}
	}()
	return lines
}
