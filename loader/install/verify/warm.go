package verify

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/internal/program"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/protocol/rpc/socket/meet"
)

// Where agents start the messenger, a daemon answers their calls. For a proof there is one
// of its own: it serves the empty folder, and is killed in the middle.

// warm reports whether the entries start the messenger, and this system has daemons.
func (p *proof) warm() bool {
	return runtime.GOOS == "linux" && slices.ContainsFunc(p.s.installed.Entries, func(e install.Entry) bool { return isMessenger(e.Command.Program) })
}

// daemon is a daemon for one proof. The nil one is none.
type daemon struct {
	socket string
	stop   context.CancelFunc
	ended  chan process.Result
	gone   bool
}

// daemonStart is how long a daemon may take until it listens.
const daemonStart = 10 * time.Second

// startDaemon starts a daemon for the empty folder as a hook call would, and waits until it
// listens.
func (p *proof) startDaemon(ctx context.Context) (*daemon, error) {
	installed, err := program.Read(p.v.State)
	if err != nil {
		return nil, errors.New("which hookd was installed is not recorded")
	}
	socket, err := meet.Path(p.dir, p.v.State)
	if err == nil {
		err = meet.CheckPath(socket)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(socket), 0o700)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	d := &daemon{socket: socket, stop: cancel, ended: make(chan process.Result, 1)}
	go func() {
		d.ended <- p.v.Run.Run(ctx, &process.Command{
			Path: installed.Path, Argv: []string{installed.Path, "serve", "--socket=" + socket, "--idle", "2m"}, Dir: string(filepath.Separator), Env: p.v.Environ, Grace: -1,
		})
	}()
	for end := time.Now().Add(daemonStart); time.Now().Before(end); time.Sleep(proofPoll) {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return d, nil
		}
		select {
		case result := <-d.ended:
			d.ended <- result
			<-result.Gone
			return nil, errors.New(endOf(&result, daemonStart))
		default:
		}
	}
	d.end()
	return nil, errors.New("it does not listen after " + daemonStart.String())
}

// kill ends the daemon at once, as a crash does.
func (d *daemon) kill() {
	if d == nil || d.gone {
		return
	}
	d.gone = true
	d.stop()
	result := <-d.ended
	<-result.Gone
}

// end ends it, if it is still there, and removes what a killed daemon leaves.
func (d *daemon) end() {
	if d == nil {
		return
	}
	d.kill()
	_ = os.Remove(d.socket)
}
