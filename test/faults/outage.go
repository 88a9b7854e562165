package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Outage is something that happens to the brokers of a Replicated.
type Outage struct {
	Kind string
	on   int           // which stream's leader
	For  time.Duration // how long the majority is away; 0 = it is not
}

// The kinds of outages.
const (
	FrozenServer = "the client's server is frozen"
	KilledLeader = "a leader is killed"
	AllKilled    = "all are killed"
	FrozenLeader = "a leader is frozen"
	Minority     = "the client's server is parted from the others"
	LostQuorum   = "two are killed"
	Rolling      = "rolling restart"
)

// outages is in the order in which a run takes them.
var outages = []string{FrozenServer, AllKilled, KilledLeader, Minority, LostQuorum, FrozenLeader, Rolling}

// Outages draws a number of outages: the kinds in turn, or all of them where none is named. Equal seeds draw equal ones.
func Outages(seed uint64, n int, kinds ...string) []Outage {
	if len(kinds) == 0 {
		kinds = outages
	}
	r := rand.New(rand.NewPCG(seed, 3))
	var out []Outage
	for i := range n {
		o := Outage{Kind: kinds[i%len(kinds)], on: r.IntN(4)}
		if o.Kind == Minority || o.Kind == LostQuorum {
			o.For = 2*time.Second + time.Duration(r.Int64N(int64(6*time.Second)))
		}
		out = append(out, o)
	}
	return out
}

// Recovery is how long it took from an outage, or where no majority was left from its end, until a message was
// acknowledged and until one was settled.
type Recovery struct {
	Outage
	Acknowledged, Settled time.Duration
	Failed                []error // attempts to settle that were given up
}

// Suffer makes an outage happen, measures the recovery with a client, and mends it. It returns when every broker is
// healthy. With a majority left, what is broken is mended after the recovery.
func (w *Replicated) Suffer(ctx context.Context, c *client.Client, o Outage) (Recovery, error) {
	r := Recovery{Outage: o}
	began := time.Now()
	if err := w.strike(ctx, c, o); err != nil {
		return r, fmt.Errorf("%s: %w", o.Kind, err)
	}
	if o.Kind == AllKilled || o.Kind == Rolling || o.For > 0 {
		if err := w.Mend(); err != nil {
			return r, err
		}
		began = time.Now()
	}
	probe := &probe{c: c, name: began.Format(time.RFC3339Nano)}
	if err := probe.acknowledged(ctx); err != nil {
		return r, fmt.Errorf("%s: nothing is acknowledged: %w", o.Kind, err)
	}
	r.Acknowledged = time.Since(began)
	if err := probe.settled(ctx); err != nil {
		return r, fmt.Errorf("%s: nothing is settled: %w", o.Kind, err)
	}
	r.Settled, r.Failed = time.Since(began), probe.failed
	if err := w.Mend(); err != nil {
		return r, err
	}
	return r, w.healthy(ctx)
}

// strike makes an outage happen, and passes its time.
func (w *Replicated) strike(ctx context.Context, c *client.Client, o Outage) error {
	names := c.Conn().Naming
	led := []string{names.Messages(), names.Writes(), names.Windows(), "KV_" + names.LeaseBucket()}[o.on]
	leader, err := w.leader(ctx, c.Conn(), led)
	if err != nil {
		return err
	}
	near, err := w.serverOf(ctx, c)
	if err != nil {
		return err
	}
	var errs []error
	switch o.Kind {
	case KilledLeader:
		return w.brokers[leader].kill()
	case FrozenLeader:
		return w.brokers[leader].pause()
	case FrozenServer:
		return w.brokers[near].pause()
	case Minority:
		for _, l := range w.links(near) {
			l.block()
		}
	case LostQuorum:
		errs = append(errs, w.brokers[leader].kill(), w.brokers[(leader+1)%servers].kill())
	case AllKilled:
		for _, p := range w.brokers {
			errs = append(errs, p.kill())
		}
	case Rolling:
		for _, p := range w.brokers {
			errs = append(errs, p.end(), p.start(), w.healthy(ctx))
		}
	default:
		return fmt.Errorf("%q is no outage", o.Kind)
	}
	return errors.Join(append(errs, pass(ctx, o.For))...)
}

// ProbeBank is the bank of the messages by which recoveries are measured.
const ProbeBank memory.BankID = "probe"

const probeSession memory.SessionID = "s"

// probe publishes until it is heard.
type probe struct {
	c      *client.Client
	name   string
	failed []error // of settled
}

// acknowledged publishes a message every tenth of a second, whatever became of the earlier ones, until one is
// acknowledged.
func (p *probe) acknowledged(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	heard := make(chan struct{}, 1)
	var last error
	failed := make(chan error, 1)
	for n := 0; ; n++ {
		go func() {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			body := fmt.Appendf(nil, `{"id":"%s/%d","speaker":"Probe","content":"I bought a lamp at %s."}`, p.name, n, p.name)
			if _, err := p.c.PublishBody(ctx, ProbeBank, probeSession, body); err != nil {
				select {
				case failed <- err:
				default:
				}
				return
			}
			select {
			case heard <- struct{}{}:
			default:
			}
		}()
		select {
		case <-heard:
			return nil
		case last = <-failed:
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), last)
		}
	}
}

// settled flushes the session and waits until everything published to it is settled. It flushes again after 5 s, for a
// server that was frozen may pass on what it was sent before.
func (p *probe) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := p.settledAfterFlush(ctx)
		if err == nil {
			return nil
		}
		p.failed = append(p.failed, err)
		if waited := pass(ctx, 50*time.Millisecond); waited != nil {
			return errors.Join(waited, err)
		}
	}
}

func (p *probe) settledAfterFlush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := p.c.Flush(ctx, ProbeBank, probeSession); err != nil {
		return err
	}
	_, err := p.c.WaitSettled(ctx, ProbeBank, nil)
	return err
}
