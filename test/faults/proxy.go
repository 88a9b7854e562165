package faults

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// proxy stands between the programs and the broker, so that their connections can be cut while both sides run.
type proxy struct {
	listener net.Listener
	target   string

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
	_, _ = io.Copy(to, from)
	_, _ = from.Close(), to.Close() // either may be closed already
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, from)
	delete(p.conns, to)
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
