package faults

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// proxy stands between the programs and the broker, so that their connections can be cut while both sides run.
type proxy struct {
	listener net.Listener
	target   string

	blocked atomic.Bool // nothing passes, and neither side is told

	mu    sync.Mutex
	conns map[net.Conn]bool
	done  sync.WaitGroup
}

func newProxy(ctx context.Context, target string) (*proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, target: target, conns: map[net.Conn]bool{}}
	p.done.Go(p.serve)
	return p, nil
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if p.blocked.Load() {
			p.keep(client) // it waits for an answer
			continue
		}
		var d net.Dialer
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		server, err := d.DialContext(ctx, "tcp", p.target)
		cancel()
		if err != nil {
			_ = client.Close()
			continue
		}
		p.keep(client, server)
		p.done.Go(func() { p.pipe(client, server) })
		p.done.Go(func() { p.pipe(server, client) })
	}
}

func (p *proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
}

// pipe copies until either side closes, and then closes both.
func (p *proxy) pipe(from, to net.Conn) {
	_, _ = io.Copy(passing{to, &p.blocked}, from)
	_, _ = from.Close(), to.Close() // either may be closed already
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
	delete(p.conns, to)
}

// passing writes unless it is blocked; then it swallows what is written.
type passing struct {
	io.Writer
	blocked *atomic.Bool
}

func (w passing) Write(b []byte) (int, error) {
	if w.blocked.Load() {
		return len(b), nil
	}
	return w.Writer.Write(b)
}

// block lets nothing pass, without a sign to either side.
func (p *proxy) block() { p.blocked.Store(true) }

// unblock lets new connections pass; those that were blocked lack a part and are closed.
func (p *proxy) unblock() {
	p.blocked.Store(false)
	p.cut()
}

// cut closes every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // it may have ended by itself
	}
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.cut()
	p.done.Wait()
}
