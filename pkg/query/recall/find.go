package recall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/eunoe-memory/eunoe/internal/telemetry"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/query/request"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Found is the result of a recall, with what reflect needs in addition to the reply.
type Found struct {
	Reply     wire.RecallReply
	Bank      memory.Bank                   // the profile
	Conflicts []memory.Conflict             // open ones, to which facts of the reply are party
	Parties   map[memory.FactID]memory.Item // of the conflicts

	ranked []ranked // what models look at before it is packed; nil = the reply is packed
}

// Degrade records the reason why something could not run, once.
func (f *Found) Degrade(why string) {
	if !slices.Contains(f.Reply.Degraded, why) {
		f.Reply.Degraded = append(f.Reply.Degraded, why)
	}
}

// Find is Recall for a request that was parsed.
func (e *Engine) Find(ctx context.Context, bank memory.BankID, q Request) (Found, error) {
	q, withheld, err := e.withhold(ctx, bank, q)
	if err != nil {
		return Found{}, err
	}
	if e.SameLog != nil && e.SameLog() != nil { // what it counts as applied is another log's
		withheld = append(withheld, "log: it is not the one that the store was made from; nothing is applied")
		q.afterSeq, q.afterWrite, q.wait = math.MaxInt64, math.MaxInt64, 0
	}
	found, err := e.searchApplied(ctx, bank, q)
	if err != nil {
		return found, err
	}
	for _, why := range withheld {
		found.Degrade(why)
	}
	if found.ranked == nil {
		return found, nil
	}
	e.searchMissing(ctx, bank, q, &found)
	e.judgeItems(ctx, q, &found)
	_, span := telemetry.Start(ctx, "pack")
	found.pack(q)
	span.Number(telemetry.Count, len(found.Reply.Items)).End(nil)
	return found, e.Store.Search(ctx, bank, q.Filter, found.AddConflicts)
}

// searchApplied searches once the store has applied what the request asks to see. Where that takes too long, the answer
// is not fresh, and empty for a bank that is not there.
func (e *Engine) searchApplied(ctx context.Context, bank memory.BankID, q Request) (Found, error) {
	fresh, err := request.Applied(ctx, e.Store, bank, q.afterSeq, q.afterWrite, q.wait)
	if err != nil {
		return Found{}, err
	}
	found, err := e.search(ctx, bank, q)
	if errors.Is(err, memory.ErrNotFound) && (q.afterSeq > 0 || q.afterWrite > 0) {
		// What is applied is read before a second search, for the bank may have been made since the first, and the store may
		// have fallen back: an answer has seen what it says it has.
		seen, writes, failed := e.Store.AppliedOf(ctx, bank)
		if failed != nil {
			return found, failed
		}
		if fresh = fresh && seen >= q.afterSeq && writes >= q.afterWrite; !fresh {
			if found, err = e.search(ctx, bank, q); errors.Is(err, memory.ErrNotFound) {
				found.Reply.Seen, err = seen, nil
			}
		}
	}
	found.Reply.Fresh = found.Reply.Fresh && fresh // the state that was searched may be an earlier one
	return found, err
}

// withhold removes the parts of a request that need a language model, if there is none or the bank's token budget is
// exhausted, and returns the reasons for degraded.
func (e *Engine) withhold(ctx context.Context, bank memory.BankID, q Request) (Request, []string, error) {
	if q.judge == nil && q.Adequacy == 0 {
		return q, nil, nil
	}
	why := ""
	if e.Judge != nil {
		var err error
		if why, err = e.Exhausted(ctx, bank); why == "" || err != nil {
			return q, nil, err
		}
	}
	adequacy, judge := q.Adequacy > 0, q.judge != nil
	q.Adequacy, q.judge = 0, nil
	var withheld []string
	note := func(asked bool, why string) {
		if asked {
			withheld = append(withheld, why)
		}
	}
	if e.Judge == nil {
		note(judge, "judge: no language model is configured")
		note(adequacy, "adequacy: no language model is configured")
		return q, withheld, nil
	}
	note(adequacy, "adequacy: "+why+"; the result stands as it is")
	note(judge, "judge: "+why+"; nothing is dropped")
	return q, withheld, nil
}

// Exhausted returns the reason why language models are not called for a bank on this UTC day, "" if they are. It counts
// usage in the store, so a bank may exceed its bound by calls in progress.
func (e *Engine) Exhausted(ctx context.Context, bank memory.BankID) (string, error) {
	day := e.Now().UTC().Format(time.DateOnly)
	spent, bound, err := e.Store.Spent(ctx, bank, day)
	if err != nil {
		return "", fmt.Errorf("token budget of bank %q: %w", string(bank), err)
	}
	if bound == 0 {
		bound = e.cfg.TokensPerDay
	}
	if bound == 0 || spent < bound {
		return "", nil
	}
	return fmt.Sprintf("the bank took %d of the %d tokens it may take on %s (tokens_per_day)", spent, bound, day), nil
}

// AddConflicts finds the open conflicts among the facts of the reply.
func (f *Found) AddConflicts(s Searcher) error {
	var ids []memory.FactID
	for _, i := range f.Reply.Items {
		if i.Record == memory.RecordFact {
			ids = append(ids, memory.FactID(i.ID))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var err error
	if f.Conflicts, err = s.OpenConflicts(ids, 20); err != nil || len(f.Conflicts) == 0 {
		return err
	}
	ids = ids[:0]
	for _, c := range f.Conflicts {
		ids = append(ids, c.A, c.B)
	}
	nos, err := s.FactNumbers(ids)
	if err != nil {
		return err
	}
	items, err := s.Items(memory.RecordFact, nos)
	f.Parties = map[memory.FactID]memory.Item{}
	for _, i := range items {
		f.Parties[memory.FactID(i.ID)] = i
	}
	for _, c := range f.Conflicts {
		f.putNewerFirst(c)
	}
	return err
}

// putNewerFirst moves the later fact of a conflict before the earlier one, with at least its score.
func (f *Found) putNewerFirst(c memory.Conflict) {
	items := f.Reply.Items
	at := func(id memory.FactID) int {
		return slices.IndexFunc(items, func(i memory.Item) bool { return i.Record == memory.RecordFact && i.ID == string(id) })
	}
	a, b := at(c.A), at(c.B)
	if a < 0 || b < 0 || items[a].Said == nil || items[b].Said == nil {
		return
	}
	first, second := min(a, b), max(a, b)
	if newer := items[second]; newer.Said.After(*items[first].Said) {
		newer.Score = items[first].Score
		f.Reply.Items = slices.Insert(slices.Delete(items, second, second+1), first, newer)
	}
}
