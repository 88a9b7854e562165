package query

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The times of a bill: between two writes of what models took, and the most one
// of them may take.
const (
	billEvery   = time.Second
	billTimeout = 5 * time.Second
)

// bill gathers what model calls took until it stands in the log.
type bill struct {
	mu     sync.Mutex
	owed   map[memory.BankID][]memory.StageUsage
	writes bool          // a writer runs
	ends   chan struct{} // closed when the service stops; nil before the first use
	closed bool
	done   sync.WaitGroup
}

// metered gives a context that counts model calls, and what must be called when
// the request is answered: it sends what they took to the log, best effort and
// without waiting for it.
func (s *Service) metered(ctx context.Context, bank memory.BankID) (context.Context, func()) {
	m := &memory.Meter{}
	return memory.WithMeter(ctx, m), func() { s.charge(bank, m.Take()) }
}

// charge adds to the bill. Charges of one second share a write for each bank.
func (s *Service) charge(bank memory.BankID, list []memory.StageUsage) {
	if len(list) == 0 || s.conn == nil {
		return
	}
	b := &s.bill
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owed == nil {
		b.owed = map[memory.BankID][]memory.StageUsage{}
	}
	for _, u := range list {
		b.owed[bank] = memory.AddUsage(b.owed[bank], u)
	}
	if b.ends == nil {
		b.ends = make(chan struct{})
	}
	if !b.writes {
		b.writes = true
		b.done.Add(1)
		go s.settle()
	}
}

// settle writes what is owed until nothing is.
func (s *Service) settle() {
	defer s.bill.done.Done()
	pause := time.NewTimer(billEvery)
	defer pause.Stop()
	for {
		owed := s.bill.take()
		if owed == nil {
			return
		}
		for _, bank := range slices.Sorted(maps.Keys(owed)) {
			s.append(memory.Write{Bank: bank, Kind: memory.WriteUsage, Op: ulid.Make().String(), Usage: owed[bank]})
		}
		pause.Reset(billEvery)
		select {
		case <-pause.C:
		case <-s.bill.ends:
		}
	}
}

func (s *Service) append(w memory.Write) {
	ctx, cancel := context.WithTimeout(context.Background(), billTimeout)
	defer cancel()
	if _, err := s.conn.AppendWrite(ctx, w); err != nil {
		s.log.Warn().Str("stage", "query").Str("bank", string(w.Bank)).Str("error", err.Error()).Msg("what model calls took could not be written")
	}
}

// take gives what is owed and owes nothing; nil ends the writer.
func (b *bill) take() map[memory.BankID][]memory.StageUsage {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.owed
	b.owed = nil
	b.writes = out != nil
	return out
}

// close writes what is owed without further pauses and waits for it.
func (b *bill) close() {
	b.mu.Lock()
	if b.ends != nil && !b.closed {
		b.closed = true
		close(b.ends)
	}
	b.mu.Unlock()
	b.done.Wait()
}
