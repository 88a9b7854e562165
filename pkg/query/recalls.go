package query

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/eunoe-memory/eunoe/pkg/events/kv"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// What is kept of a recall: that many items, and the beginnings of texts and responses.
const (
	keptItems    = 50
	keptText     = 500
	keptResponse = 4000
	keepWait     = time.Second // how long a recall waits to be kept
	keepFresh    = time.Second // how long a profile that was read is believed
)

// keeper keeps the recalls of the banks that ask for it. The nil one keeps none.
type keeper struct {
	recalls  kv.Recalls
	profiles *lru.Cache[memory.BankID, keeps]
}

// keeps is what the profile of a bank said at a time.
type keeps struct {
	on bool
	at time.Time
}

func newKeeper(recalls kv.Recalls) (*keeper, error) {
	profiles, err := lru.New[memory.BankID, keeps](1024)
	return &keeper{recalls, profiles}, err
}

// keeping reports whether a bank keeps its recalls; a bank that cannot be read keeps none.
func (s *Service) keeping(ctx context.Context, bank memory.BankID) bool {
	if s.keeper == nil {
		return false
	}
	if k, known := s.keeper.profiles.Get(bank); known && time.Since(k.at) < keepFresh {
		return k.on
	}
	on, read := false, time.Now()
	err := s.store.Read(ctx, bank, func(rd Reader) error {
		b, err := rd.Bank()
		on = b.KeepRecalls
		return err
	})
	if err == nil {
		s.keeper.profiles.Add(bank, keeps{on, read})
	}
	return on
}

// keepRecall runs what answers a request and, where the bank asks for it, keeps what it was. A recall that cannot be kept
// is answered all the same.
func (s *Service) keepRecall(ctx context.Context, bank memory.BankID, endpoint string, r wire.RecallRequest, answer func(explain bool) (wire.KeptRecall, error)) error {
	if !s.keeping(ctx, bank) {
		_, err := answer(r.Explain)
		return err
	}
	begun := time.Now()
	began, failed := s.keeper.recalls.Begin(ctx, bank) // before the store is read: what is forgotten in between drops it
	k, err := answer(true)
	if err != nil {
		return err
	}
	if r.Vector = nil; failed == nil {
		k.At, k.Endpoint, k.Took = memory.At(s.now()), endpoint, memory.Duration(time.Since(begun))
		failed = s.keep(ctx, bank, began, k, r)
	}
	if failed != nil {
		s.log.Warn().Str("stage", "query").Str("bank", string(bank)).Err(failed).Msg("a recall was not kept")
	}
	return nil
}

func (s *Service) keep(ctx context.Context, bank memory.BankID, began int64, k wire.KeptRecall, r wire.RecallRequest) error {
	body, err := memory.Encode(r)
	if err == nil {
		err = json.Unmarshal(body, &k.Request)
	}
	if err != nil {
		return fmt.Errorf("write a kept recall: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, keepWait)
	defer cancel()
	return s.keeper.recalls.Keep(ctx, bank, began, k)
}

// keptOf returns what is kept of the items of a recall.
func keptOf(items []memory.Item) []wire.KeptItem {
	out := []wire.KeptItem{}
	for _, i := range items[:min(len(items), keptItems)] {
		out = append(out, wire.KeptItem{ID: i.ID, Record: i.Record, Text: memory.Truncate(i.Text, keptText), Score: i.Score, Explain: i.Explain})
	}
	return out
}

// Recalls lists the recalls that a bank has kept, the last one first.
func (s *Service) Recalls(ctx context.Context, bank memory.BankID, r wire.RecallsRequest) (wire.RecallsReply, error) {
	out := wire.RecallsReply{Items: []wire.KeptRecall{}}
	if r.Limit < 0 || r.Limit > kv.MaxRecalls {
		return out, memory.Invalid("limit", "is %d; expected 1 to %d", r.Limit, kv.MaxRecalls)
	}
	err := s.store.Read(ctx, bank, func(rd Reader) error {
		b, err := rd.Bank()
		out.On = b.KeepRecalls
		return err
	})
	if err != nil || !out.On || s.keeper == nil {
		return out, err
	}
	list, err := s.keeper.recalls.List(ctx, bank)
	for _, raw := range list {
		if len(out.Items) == r.Limit && r.Limit > 0 {
			break
		}
		var k wire.KeptRecall
		if err := json.Unmarshal(raw, &k); err != nil {
			return out, fmt.Errorf("read a kept recall: %w", err)
		}
		out.Items = append(out.Items, k)
	}
	return out, err
}
