package gateway

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	idleAfter = 4 * time.Minute // a connection that nobody used for so long is closed
	dialRate  = 50              // new connections a second: an unknown key causes one with each request
	maxKnown  = 10000           // keys that are remembered because the broker accepted them
)

// keyOf returns the seed that a request carries, "" if it carries none.
func keyOf(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	switch len(values) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", &refusal{status: http.StatusBadRequest, field: "Authorization", message: "there are several Authorization headers; expected one"}
	}
	scheme, seed, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", missingKey()
	}
	return strings.TrimSpace(seed), nil
}

// caller is one key with its connection.
type caller struct {
	key     string // public; "" = without users
	client  *client.Client
	rate    *rate.Limiter // nil = any
	using   int           // requests under way; guarded by keys.mu
	streams int           // of those, streams of events
	used    time.Time
	feeds   feeds
	servers map[any]http.Handler // of tools, by bank and choice; guarded by feeds.mu
}

// admit refuses n requests beyond the rate.
func (c *caller) admit(n int) error {
	if c.rate != nil && !c.rate.AllowN(time.Now(), n) {
		return &refusal{status: http.StatusTooManyRequests, message: "this key makes more requests a second than EUNOE_HTTP_RATE allows"}
	}
	return nil
}

// keys holds the connections of the callers.
type keys struct {
	cfg    Config
	dials  *rate.Limiter // of keys that the broker has accepted
	first  *rate.Limiter // of all others, so that strangers do not keep users out
	flight singleflight.Group
	ended  chan struct{} // a request ended while close waits

	mu     sync.Mutex
	open   map[string]*caller  // by public key
	known  map[string]struct{} // public keys that the broker has accepted
	closed bool
}

func newKeys(cfg Config) *keys {
	return &keys{cfg: cfg, dials: rate.NewLimiter(dialRate, dialRate), first: rate.NewLimiter(dialRate, dialRate),
		open: map[string]*caller{}, known: map[string]struct{}{}, ended: make(chan struct{}, 1)}
}

// get returns the caller of a seed, connecting it if it is not; put ends its use.
func (k *keys) get(ctx context.Context, seed string) (*caller, error) {
	public, pair := "", nkeys.KeyPair(nil)
	if seed != "" {
		var err error
		if pair, err = nkeys.FromSeed([]byte(seed)); err == nil {
			public, err = pair.PublicKey()
		}
		if err != nil || !nkeys.IsValidPublicUserKey(public) {
			return nil, &refusal{status: http.StatusUnauthorized, field: "Authorization", message: "this is no key; expected the seed of a user (SU…) that `eunoe auth` made"}
		}
	}
	if c := k.use(public); c != nil {
		return c, nil
	}
	if !k.mayDial(public) {
		return nil, &refusal{status: http.StatusTooManyRequests, message: "too many new connections at once"}
	}
	// One connection for all that wait for it; it outlives the request that asked first.
	_, err, _ := k.flight.Do(public, func() (any, error) { return nil, k.dial(context.WithoutCancel(ctx), public, pair) })
	if err != nil {
		return nil, err
	}
	if c := k.use(public); c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("the connection of this key ended: %w", memory.ErrUnavailable)
}

// mayDial reports whether a key may make a connection now.
func (k *keys) mayDial(public string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.known[public]; known {
		return k.dials.Allow()
	}
	return k.first.Allow()
}

func (k *keys) use(public string) *caller {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.open[public]
	if c == nil || c.client.Conn().NC.IsClosed() {
		return nil
	}
	c.using++
	return c
}

func (k *keys) put(c *caller) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.using--
	c.used = time.Now()
	select {
	case k.ended <- struct{}{}:
	default:
	}
}

// dial connects a key. A connection that is lost is not made again: the next request makes it, if the broker still
// knows the key.
func (k *keys) dial(ctx context.Context, public string, pair nkeys.KeyPair) error {
	cfg := k.cfg.Broker
	c := &caller{key: public, used: time.Now()}
	if k.cfg.Rate > 0 {
		c.rate = rate.NewLimiter(rate.Limit(k.cfg.Rate), k.cfg.Rate)
	}
	cfg.Options = append(append([]nats.Option{}, cfg.Options...), nats.NoReconnect(), nats.ClosedHandler(func(*nats.Conn) { k.lost(c) }))
	if pair != nil {
		cfg.Options = append(cfg.Options, nats.Nkey(public, pair.Sign))
	}
	var err error
	if c.client, err = client.Connect(ctx, cfg); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errors.Join(fmt.Errorf("the gateway stops: %w", memory.ErrUnavailable), c.client.Close())
	}
	if c.client.Conn().NC.IsClosed() {
		return fmt.Errorf("the broker closed the connection: %w", memory.ErrUnavailable)
	}
	k.open[public] = c
	if len(k.known) < maxKnown {
		k.known[public] = struct{}{}
	}
	return nil
}

// lost removes a connection that ended.
func (k *keys) lost(c *caller) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open[c.key] == c {
		delete(k.open, c.key)
	}
}

// closeIdle closes connections that were idle for idleAfter.
func (k *keys) closeIdle(now time.Time) {
	for _, c := range k.unused(now.Add(-idleAfter)) {
		_ = c.client.Close() //nolint:errcheck // nothing is under way
	}
}

// unused removes and returns the connections that are not in use and were last used before a time.
func (k *keys) unused(before time.Time) []*caller {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*caller
	for key, c := range k.open {
		if c.using == 0 && c.used.Before(before) {
			out = append(out, c)
			delete(k.open, key)
		}
	}
	return out
}

// close closes every connection once nothing uses it, or after grace.
func (k *keys) close(grace time.Duration) {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	late := time.NewTimer(grace)
	defer late.Stop()
	for {
		for _, c := range k.unused(time.Now().Add(time.Hour)) {
			_ = c.client.Close() //nolint:errcheck // nothing is under way
		}
		k.mu.Lock()
		left := len(k.open)
		k.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-k.ended:
		case <-late.C:
			k.mu.Lock()
			for _, c := range k.open {
				c.using = 0
			}
			k.mu.Unlock()
		}
	}
}

// count returns how many connections are open.
func (k *keys) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.open)
}

// HasUsers asks the broker whether it requires credentials. A broker that does not answer is memory.ErrUnavailable.
func (g *Gateway) HasUsers(ctx context.Context) (bool, error) {
	broker := g.cfg.Broker
	var last error
	for _, address := range strings.Split(broker.URL, ",") {
		users, err := greeting(ctx, strings.TrimSpace(address), broker)
		if err == nil {
			return users, nil
		}
		last = fmt.Errorf("no broker answers at %s: %w: %w", events.RedactURL(address), memory.ErrUnavailable, err)
	}
	return false, last
}

// greeting reads the INFO line that a broker sends to every connection.
func greeting(ctx context.Context, address string, broker client.Config) (users bool, err error) {
	var o nats.Options
	for _, option := range broker.Options {
		if err := option(&o); err != nil {
			return false, err
		}
	}
	var conn net.Conn
	if o.InProcessServer != nil {
		conn, err = o.InProcessServer.InProcessConn()
	} else {
		var u *url.URL
		if u, err = url.Parse(address); err != nil {
			return false, err
		}
		d := net.Dialer{Timeout: 2 * time.Second}
		conn, err = d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "4222")))
	}
	if err != nil {
		return false, err
	}
	defer conn.Close() //nolint:errcheck // nothing was sent
	if err := conn.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return false, err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return false, err
	}
	var info struct {
		AuthRequired bool `json:"auth_required"`
	}
	text, ok := strings.CutPrefix(line, "INFO ")
	if !ok {
		return false, fmt.Errorf("%.20q is no greeting of a NATS server", line)
	}
	err = json.Unmarshal([]byte(text), &info)
	return info.AuthRequired, err
}
