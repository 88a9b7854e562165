package write

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	chargeEvery   = time.Second     // between two writes of pending charges
	chargeTimeout = 5 * time.Second // the most one of them may take
)

// charges are what model calls took and what the log does not hold yet.
type charges struct {
	mu      sync.Mutex
	pending map[memory.BankID][]memory.StageUsage
	writing bool          // a writer runs
	ends    chan struct{} // closed when the appender is closed; nil before the first charge
	closed  bool
	done    sync.WaitGroup
}

// Charge appends what models took for a bank to the log, in the background and best effort. Charges of one second share a
// write for each bank.
func (a *Appender) Charge(bank memory.BankID, used []memory.StageUsage) {
	if len(used) == 0 || a.deps.Conn == nil {
		return
	}
	c := &a.charges
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		c.pending = map[memory.BankID][]memory.StageUsage{}
	}
	for _, u := range used {
		c.pending[bank] = memory.AddUsage(c.pending[bank], u)
	}
	if c.ends == nil {
		c.ends = make(chan struct{})
	}
	if !c.writing {
		c.writing = true
		c.done.Add(1)
		go a.writeCharges()
	}
}

// Close writes the pending charges without further pauses and waits for it.
func (a *Appender) Close() {
	c := &a.charges
	c.mu.Lock()
	if c.ends != nil && !c.closed {
		c.closed = true
		close(c.ends)
	}
	c.mu.Unlock()
	c.done.Wait()
}

// writeCharges writes charges until none is pending.
func (a *Appender) writeCharges() {
	defer a.charges.done.Done()
	pause := time.NewTimer(chargeEvery)
	defer pause.Stop()
	for {
		pending := a.charges.drain()
		if pending == nil {
			return
		}
		for _, bank := range slices.Sorted(maps.Keys(pending)) {
			a.writeUsage(memory.Write{Bank: bank, Kind: memory.WriteUsage, Op: ulid.Make().String(), Usage: pending[bank]})
		}
		pause.Reset(chargeEvery)
		select {
		case <-pause.C:
		case <-a.charges.ends:
		}
	}
}

func (a *Appender) writeUsage(w memory.Write) {
	ctx, cancel := context.WithTimeout(context.Background(), chargeTimeout)
	defer cancel()
	if _, err := a.deps.Conn.AppendWrite(ctx, w); err != nil {
		a.deps.Log.Warn().Str("stage", "query").Str("bank", string(w.Bank)).Str("error", err.Error()).Msg("what model calls took could not be written")
	}
}

// drain returns the pending charges and leaves none; nil ends the writer.
func (c *charges) drain() map[memory.BankID][]memory.StageUsage {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.pending
	c.pending = nil
	c.writing = out != nil
	return out
}
