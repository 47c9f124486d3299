package acpterminal

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

// offer is a socket on which one screen is expected.
type offer struct {
	path, word string
	folder     string
	listener   net.Listener
}

// newOffer listens in a new folder of our own.
func newOffer() (*offer, error) {
	folder, err := os.MkdirTemp("", "hookd-acp-")
	if err != nil {
		return nil, err
	}
	o := &offer{path: filepath.Join(folder, "s"), word: rand.Text(), folder: folder}
	if o.listener, err = socket.Listen(o.path); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	return o, nil
}

// withdraw takes the socket away: who comes later finds none. It may be called again.
func (o *offer) withdraw() {
	o.listener.Close()
	os.RemoveAll(o.folder)
}

// helloLimit is how long who connects may take to say the word.
const helloLimit = time.Second

// accept waits for the screen and returns the connection. Who does not say the word is sent away,
// and the screen may still come. The offer is over when accept returns.
func (o *offer) accept(ctx context.Context) (*screen, error) {
	defer o.withdraw()
	stop := context.AfterFunc(ctx, func() { o.listener.Close() })
	defer stop()
	for {
		c, err := o.listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, err
		}
		if conn := c.(*net.UnixConn); o.isExpected(ctx, conn) {
			return newScreen(conn), nil
		}
		c.Close()
	}
}

func (o *offer) isExpected(ctx context.Context, conn *net.UnixConn) bool {
	peer, err := socket.PeerOf(conn)
	if err != nil || peer.CheckUser() != nil {
		return false
	}
	if conn.SetReadDeadline(time.Now().Add(helloLimit)) != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	said, err := bufio.NewReaderSize(io.LimitReader(conn, 64), 64).ReadString('\n')
	return err == nil && subtle.ConstantTimeCompare([]byte(strings.TrimSuffix(said, "\n")), []byte(o.word)) == 1 && conn.SetReadDeadline(time.Time{}) == nil
}

// screen is the connection to a terminal that shows a command.
type screen struct {
	conn   *net.UnixConn
	closed chan struct{} // closed when the other end is gone
	ended  atomic.Bool   // the command is to end: nothing waits for the terminal any more
	lost   error         // why nothing more can be shown; of who writes
}

func newScreen(conn *net.UnixConn) *screen {
	s := &screen{conn: conn, closed: make(chan struct{})}
	go func() { // until close, or the other end's
		defer close(s.closed)
		_, _ = io.Copy(io.Discard, conn) // a screen says nothing more
	}()
	return s
}

// stuckLimit is how long a terminal may take none of the output, which the command waits for as it
// does in any terminal. Then it goes on unseen.
var stuckLimit = 10 * time.Second

// Write shows a piece of output. It never fails: a terminal that takes nothing is no fault of the
// command.
func (s *screen) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && s.lost == nil; {
		n := min(len(rest), mostInFrame)
		s.send(frameOutput, rest[:n], stuckLimit)
		rest = rest[n:]
	}
	return len(p), nil
}

var errEnded = errors.New("the command is to end")

func (s *screen) send(kind byte, content []byte, patience time.Duration) {
	s.lost = s.conn.SetWriteDeadline(time.Now().Add(patience))
	if s.lost == nil && kind == frameOutput && s.ended.Load() { // hurry has set its deadline before ours
		s.lost = errEnded
		return
	}
	if s.lost == nil {
		_, s.lost = s.conn.Write(appendFrame(make([]byte, 0, frameHeader+len(content)), kind, content))
	}
	if s.lost != nil { // half a frame may have been sent: nothing can follow it
		s.conn.CloseWrite()
	}
}

// hurry ends a wait for the terminal. Any goroutine may call it.
func (s *screen) hurry() {
	s.ended.Store(true)
	s.conn.SetWriteDeadline(time.Unix(1, 0))
}

// farewellLimit is how long the end of a command may take to be said.
const farewellLimit = 100 * time.Millisecond

// end says how the command ended, and that nothing follows. The screen leaves then.
func (s *screen) end(e ending) {
	if s.lost == nil || errors.Is(s.lost, errEnded) {
		if content, err := protocol.Marshal(e); err == nil && len(content) <= mostInFrame {
			s.send(frameEnd, content, farewellLimit)
		}
	}
	s.conn.CloseWrite()
}

// close ends the connection, and waits for what reads it.
func (s *screen) close() {
	s.conn.Close()
	<-s.closed
}
