package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/test/freeport"
)

// servers is how many brokers a Replicated has; each keeps every stream.
const servers = 3

// Replicated is a cluster of three brokers that sync before they acknowledge, and two of every stage, each a process.
// The brokers reach each other through proxies only, so that one can be cut off from the others.
type Replicated struct {
	*Cluster
	brokers []*process
	http    []int
	routes  [servers][servers]*proxy // [from][to]
}

// NewReplicated starts everything in dir with the programs in bin, and returns when the endpoints answer.
func NewReplicated(ctx context.Context, bin, dir string) (_ *Replicated, err error) {
	w := &Replicated{Cluster: &Cluster{Dir: dir}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	ports, err := freeport.Take(ctx, 3*servers)
	if err != nil {
		return nil, err
	}
	clients, clusters := ports[:servers], ports[servers:2*servers]
	w.http = ports[2*servers:]
	var urls []string
	for i := range servers {
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", clients[i]))
		var routes []string
		for j := range servers {
			if i == j {
				continue
			}
			if w.routes[i][j], err = newProxy(ctx, fmt.Sprintf("127.0.0.1:%d", clusters[j])); err != nil {
				return nil, err
			}
			routes = append(routes, w.routes[i][j].url())
		}
		// What a server tells others of its address leads nowhere: the routes are those of the proxies.
		text := fmt.Sprintf("server_name: n%d\nlisten: 127.0.0.1:%d\nhttp: 127.0.0.1:%d\njetstream {\n  store_dir: %q\n  max_file_store: %d\n  sync_interval: always\n}\n"+
			"cluster {\n  name: eunoe\n  listen: 127.0.0.1:%d\n  advertise: 127.0.0.1:1\n  ping_interval: 2s\n  ping_max: 2\n  routes: [%s]\n}\n",
			i, clients[i], w.http[i], filepath.Join(dir, fmt.Sprintf("streams-%d", i)), int64(unlimited), clusters[i], strings.Join(routes, ", "))
		file := filepath.Join(dir, fmt.Sprintf("nats-%d.conf", i))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		w.brokers = append(w.brokers, &process{name: "nats-server", bin: bin, args: []string{"-c", file}, log: filepath.Join(dir, fmt.Sprintf("nats-%d.log", i))})
		if err := w.brokers[i].start(); err != nil {
			return nil, err
		}
	}
	w.url = strings.Join(urls, ",")
	if err := w.healthy(ctx); err != nil {
		return nil, err
	}
	if err := w.startStages(ctx, bin, fmt.Sprintf("EUNOE_REPLICAS=%d", servers)); err != nil {
		return nil, err
	}
	return w, w.working(ctx)
}

// working waits until a message is settled: every stage has started.
func (w *Replicated) working(ctx context.Context) error {
	c, err := w.Client(ctx)
	if err != nil {
		return err
	}
	first := &probe{c: c, name: "first"}
	return errors.Join(first.acknowledged(ctx), first.settled(ctx), c.Close())
}

// healthy waits until every broker says that it has caught up with the others.
func (w *Replicated) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for i := range w.brokers {
		for last := errors.New("not asked"); last != nil; {
			if last = w.health(ctx, i); last == nil {
				break
			}
			if err := pass(ctx, 50*time.Millisecond); err != nil {
				return fmt.Errorf("broker %d is not healthy: %w", i, last)
			}
		}
	}
	return nil
}

func (w *Replicated) health(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/healthz", w.http[i]), nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// leader returns the broker that leads a stream. It waits while there is none, and asks again where a request is lost.
func (w *Replicated) leader(ctx context.Context, conn *events.Conn, stream string) (int, error) {
	ask := func() (jetstream.Stream, error) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		return conn.JS.Stream(ctx, stream)
	}
	for {
		s, err := ask()
		if err == nil && s.CachedInfo().Cluster != nil && s.CachedInfo().Cluster.Leader != "" {
			return number(s.CachedInfo().Cluster.Leader)
		}
		if waited := pass(ctx, 50*time.Millisecond); waited != nil {
			return 0, errors.Join(waited, err)
		}
	}
}

// serverOf returns the broker that a client is connected to.
func (w *Replicated) serverOf(ctx context.Context, c *client.Client) (int, error) {
	for {
		if name := c.Conn().NC.ConnectedServerName(); name != "" {
			return number(name)
		}
		if err := pass(ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// number is that of a broker, by its name.
func number(name string) (n int, err error) {
	if _, err = fmt.Sscanf(name, "n%d", &n); err != nil || n >= servers {
		return 0, fmt.Errorf("%q is no broker of this cluster", name)
	}
	return n, nil
}

// links returns the proxies between a broker and the others, both ways.
func (w *Replicated) links(broker int) []*proxy {
	var out []*proxy
	for other := range servers {
		if other != broker {
			out = append(out, w.routes[broker][other], w.routes[other][broker])
		}
	}
	return out
}

// Mend starts what is stopped, resumes what is paused and joins what is parted.
func (w *Replicated) Mend() error {
	var errs []error
	for i, p := range w.brokers {
		errs = append(errs, p.resume(), p.start())
		for _, l := range w.links(i) {
			if l.blocked.Load() {
				l.unblock()
			}
		}
	}
	return errors.Join(errs...)
}

// Close kills everything.
func (w *Replicated) Close() error {
	err := w.Cluster.Close()
	for _, p := range w.brokers {
		err = errors.Join(err, p.kill())
	}
	for i := range w.routes {
		for _, p := range w.routes[i] {
			if p != nil {
				p.close()
			}
		}
	}
	return err
}
