// Command smalldaemon is what a host would write that needs nothing of hookd but the
// speed: it reads a request a line, runs one program on it so many times, and answers.
// The rows serve/1 and serve/10 of the benchmark compare hookd serve with it.
//
//	smalldaemon PROGRAM TIMES
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

const (
	longestLine = 32 << 20
	timeLimit   = 30 * time.Second
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  *outcome        `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"`
}

type outcome struct {
	Action string `json:"action"`
	Reason string `json:"reason"`
	Runs   []run  `json:"runs"`
}

type run struct {
	Program string  `json:"program"`
	Exit    int     `json:"exit"`
	TookMs  float64 `json:"tookMs"`
}

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "smalldaemon:", err)
		os.Exit(1)
	}
}

func serve(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: smalldaemon PROGRAM TIMES")
	}
	times, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	for lines.Scan() {
		var r request
		a := answer{Version: "2.0"}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			a.Error = err.Error()
		} else if a.ID = r.ID; r.Method == "event/fire" {
			if a.Result, err = decide(args[0], times, r.Params); err != nil {
				a.Error = err.Error()
			}
		}
		line, err := json.Marshal(a)
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

// decide runs the program on the event, and ends with the first that refuses it.
func decide(program string, times int, event []byte) (*outcome, error) {
	o := &outcome{Action: "observe"}
	for range times {
		began := time.Now()
		exit, reason, err := runOnce(program, event)
		if err != nil {
			return nil, err
		}
		o.Runs = append(o.Runs, run{Program: program, Exit: exit, TookMs: float64(time.Since(began).Microseconds()) / 1e3})
		if exit == 2 {
			o.Action, o.Reason = "block", reason
			return o, nil
		}
	}
	return o, nil
}

// runOnce runs the program once, with a limit, and returns how it ended.
func runOnce(program string, event []byte) (exit int, reason string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	command := exec.CommandContext(ctx, program)
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(event), &stdout, &stderr
	err = command.Run()
	if command.ProcessState == nil {
		return 0, "", err
	}
	if exit = command.ProcessState.ExitCode(); exit < 0 {
		return 0, "", err
	}
	return exit, stderr.String(), nil
}
